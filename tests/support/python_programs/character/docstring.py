import sglc
from python_programs.character.classes import SHOWN, Crew  # noqa: F401


@sglc.fn(within=700)
def crew(theme: str) -> Crew:
    """
    system:
        | You invent crew members for stories. Answer with one object shaped like this:
        | ${schema(Crew)}
    for shown in SHOWN:
        user: | Theme: ${shown.theme}
        assistant: | ${shown.member}
    let homes = [shown.member.home for shown in SHOWN]
    let mottos = [shown.member.motto for shown in SHOWN]
    user: | Theme: ${theme}
    assistant: | ?{member: Crew where member.home not in homes and member.motto not in mottos}
    return member
    """
