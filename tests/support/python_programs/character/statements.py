import sglc
from python_programs.character.classes import SHOWN, Crew


@sglc.sgl_function(within=700)
def crew(s, theme: str) -> Crew:
    s += s.system(
        f"You invent crew members for stories. Answer with one object shaped like this:\n{s.schema(Crew)}"
    )
    for shown in SHOWN:
        s += s.user(f"Theme: {shown.theme}")
        s += s.assistant(f"{shown.member}")
    homes = [each.member.home for each in SHOWN]
    mottos = [each.member.motto for each in SHOWN]
    s += s.user("Theme: " + theme)
    s += s.assistant(
        s.gen(
            "member",
            type=Crew,
            where=lambda it: it.home not in homes and it.motto not in mottos,
        )
    )
    return s["member"]
