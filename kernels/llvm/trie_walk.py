"""The trie walk as LLVM IR; `sglc.kernels.reference.walk` says what it does, docs/mask-engine.md why so.

One visited node costs five loads (depth, the configuration above, its row number, the byte, the next
configuration), of which only `depth`, `byte` and, on the way on, `token` or `end` stream from memory.
"""

from __future__ import annotations

from llvmlite import ir

NAME = "sglc_trie_walk"

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


def build() -> str:
    """The module's IR text. Function: i64 walk(ptr byte, depth, end, token, duplicates, i64 size, ptr rows,
    row_of, stack, i64 start, ptr mask)."""
    module = ir.Module(name="trie_walk")
    pointer8, pointer32 = _I8.as_pointer(), _I32.as_pointer()
    kind = ir.FunctionType(
        _I64,
        [pointer8, pointer32, pointer32, pointer32, pointer32, _I64, pointer32, pointer32, pointer32, _I64]
        + [pointer32],
    )
    function = ir.Function(module, kind, name=NAME)
    names = "byte depth end token duplicates size rows row_of stack start mask".split()
    argument = dict(zip(names, function.args, strict=True))
    for name, value in argument.items():
        value.name = name
        if name not in ("size", "start"):
            value.add_attribute("noalias")
    block = {
        name: function.append_basic_block(name)
        for name in "entry visit body live single shared run skip onward leave".split()
    }
    b = ir.IRBuilder(block["entry"])

    def load(array: str, index: ir.Value) -> ir.Value:
        return b.load(b.gep(argument[array], [index], inbounds=True))

    def set_bit(token: ir.Value) -> None:
        place = b.gep(argument["mask"], [b.zext(b.lshr(token, _I32(5)), _I64)], inbounds=True)
        bit = b.shl(_I32(1), b.and_(token, _I32(31)))
        b.store(b.or_(b.load(place), bit), place)

    b.branch(block["visit"])

    b.position_at_end(block["visit"])
    node = b.phi(_I64, "node")
    node.add_incoming(argument["start"], block["entry"])
    b.cbranch(b.icmp_signed("<", node, argument["size"]), block["body"], block["leave"])

    b.position_at_end(block["body"])
    level = b.sext(load("depth", node), _I64)
    above = b.sext(load("stack", b.sub(level, _I64(1))), _I64)
    row = load("row_of", above)
    known = function.append_basic_block("known")
    b.cbranch(b.icmp_signed("<", row, _I32(0)), block["leave"], known)

    b.position_at_end(known)
    cell = b.add(b.shl(b.sext(row, _I64), _I64(8)), b.zext(load("byte", node), _I64))
    following = load("rows", cell)
    b.cbranch(b.icmp_signed("==", following, _I32(0)), block["skip"], block["live"])

    b.position_at_end(block["live"])
    b.store(following, b.gep(argument["stack"], [level], inbounds=True))
    token = load("token", node)
    choose = function.append_basic_block("choose")
    b.cbranch(b.icmp_signed(">=", token, _I32(0)), block["single"], choose)

    b.position_at_end(choose)
    b.cbranch(b.icmp_signed("==", token, _I32(-1)), block["onward"], block["shared"])

    b.position_at_end(block["single"])
    set_bit(token)
    b.branch(block["onward"])

    b.position_at_end(block["shared"])
    first = b.sext(b.sub(_I32(-2), token), _I64)
    b.branch(block["run"])

    b.position_at_end(block["run"])
    place = b.phi(_I64, "place")
    place.add_incoming(first, block["shared"])
    same = load("duplicates", place)
    more = function.append_basic_block("more")
    b.cbranch(b.icmp_signed("<", same, _I32(0)), block["onward"], more)

    b.position_at_end(more)
    set_bit(same)
    place.add_incoming(b.add(place, _I64(1)), more)
    b.branch(block["run"])

    b.position_at_end(block["onward"])
    node.add_incoming(b.add(node, _I64(1)), block["onward"])
    b.branch(block["visit"])

    b.position_at_end(block["skip"])
    node.add_incoming(b.sext(load("end", node), _I64), block["skip"])
    b.branch(block["visit"])

    b.position_at_end(block["leave"])
    b.ret(node)
    return str(module)
