import sglc
from python_programs.menu.classes import COURSES, Dish


@sglc.sgl_function
def menu(s, guest: str = "a tired sailor", budget: int = 90) -> list[Dish]:
    s += s.system("You plan simple menus.")
    s += s.user(f"Plan a menu of up to {COURSES} courses for {guest}. There are {budget} minutes.")
    dishes: list[Dish] = []
    tries = 0
    with s.assistant():
        while len(dishes) < COURSES and tries < 5 and s.limit(5):
            tries += 1
            left = budget - sum(dish.minutes for dish in dishes)
            if left < 5:
                break
            s += f"{len(dishes) + 1}. "
            s += s.gen("name", regex="[A-Z][a-z]{2,9}( [a-z]{3,9}){1,2}", temperature=0.8, top_p=0.9)
            s += " (" + s.gen("minutes", type="int in 5..60") + " minutes)\n"
            if s["minutes"] > left:
                continue
            dishes = dishes + [Dish(s["name"], s["minutes"])]
    return dishes
