// The start of the page in a browser.

import { Page } from "./page.js";

new Page();
