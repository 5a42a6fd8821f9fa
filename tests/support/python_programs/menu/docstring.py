import sglc
from python_programs.menu.classes import COURSES, Dish  # noqa: F401


@sglc.fn
def menu(guest: str = "a tired sailor", budget: int = 90) -> list[Dish]:
    """
    system: | You plan simple menus.
    user: | Plan a menu of up to ${COURSES} courses for ${guest}. There are ${budget} minutes.
    var dishes: [Dish] = []
    var tries = 0
    assistant:
        while len(dishes) < COURSES and tries < 5 limit 5:
            tries += 1
            let left = budget - sum([dish.minutes for dish in dishes])
            if left < 5: break
            | ${len(dishes) + 1}. ?{name: str matching /[A-Z][a-z]{2,9}( [a-z]{3,9}){1,2}/ temp 0.8 top_p 0.9} (?{minutes: int in 5..60} minutes)
            if minutes > left: continue
            dishes = dishes + [Dish(name, minutes)]
    return dishes
    """  # noqa: E501
