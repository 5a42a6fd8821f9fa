-- What a shop keeps of its orders.
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name VARCHAR(40) NOT NULL
);

-- One order of a customer.
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,                              -- given by the shop
    customer VARCHAR(40) NOT NULL CHECK (length(customer) >= 2),
    article VARCHAR(30) NOT NULL CHECK (length(article) >= 3),
    pieces SMALLINT NOT NULL DEFAULT 1 CHECK (pieces BETWEEN 1 AND 99),
    price NUMERIC(8, 2) CHECK (price > 0),               -- of one piece, in euros
    due DATE,                                            -- the latest day of delivery
    express BOOLEAN NOT NULL DEFAULT FALSE,
    state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'paid', 'sent'))
);
