"""The syntax tree of SGL: frozen nodes, each with the span it was read from, all under the one name `ast`.

Concrete node classes are never subclassed; the unions in the modules of `sglc.syntax.tree` (`Expression`,
`TypeExpression`, `Pattern`, `Statement`, `Declaration`) are what `match` goes over. Nothing here knows how to
check, lower or run itself. Sequences are tuples.
"""

from sglc.syntax.tree.declarations import *  # noqa: F403
from sglc.syntax.tree.expressions import *  # noqa: F403
from sglc.syntax.tree.patterns import *  # noqa: F403
from sglc.syntax.tree.statements import *  # noqa: F403
from sglc.syntax.tree.types import *  # noqa: F403
