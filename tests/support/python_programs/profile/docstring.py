import sglc
from python_programs.profile.classes import JONAS, Profile  # noqa: F401


@sglc.fn(within=400)
def profile(
    about: str = "Mara is 34, lives in Lisbon, paints tiles and pays for the pro plan.",
) -> Profile:
    """
    system: | You turn descriptions of people into JSON records.
    user:
        | Answer with one object shaped like this:
        | ${schema(Profile)}
        | Jonas is 52, lives in Bergen, likes old maps and long walks, and uses the free plan.
    assistant: | ${JONAS}
    user: | ${about}
    assistant: | ?{user: Profile}
    return user
    """
