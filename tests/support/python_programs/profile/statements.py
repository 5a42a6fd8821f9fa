import sglc
from python_programs.profile.classes import JONAS, Profile


@sglc.sgl_function(within=400)
def profile(
    s, about: str = "Mara is 34, lives in Lisbon, paints tiles and pays for the pro plan."
) -> Profile:
    s += s.system("You turn descriptions of people into JSON records.")
    with s.user():
        s += "Answer with one object shaped like this:\n"
        s += f"{s.schema(Profile)}\n"
        s += "Jonas is 52, lives in Bergen, likes old maps and long walks, and uses the free plan."
    s += s.assistant(f"{JONAS}")
    s += s.user(about)
    s += s.assistant(s.gen("user", type=Profile))
    return s["user"]
