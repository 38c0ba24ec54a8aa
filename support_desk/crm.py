"""Customers and orders of the example: working tools over a book kept in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Book:
    """What the shop knows; opened and closed by the extension's lifecycle hooks."""

    customers: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)
    refunds: list[dict[str, Any]] = field(default_factory=list)


_book: list[Book] = []


def open_book() -> None:
    """Install hook: open the book with the sample customers."""
    _book.append(
        Book(
            customers={
                "C-17": {"id": "C-17", "name": "Ada Byron", "email": "ada@example.test", "since": "2021"},
                "C-42": {"id": "C-42", "name": "Alan T.", "email": "alan@example.test", "since": "2024"},
            },
            notes={"C-17": "Prefers e-mail.", "C-42": "Asks for invoices."},
            orders={
                "O-1001": {"order": "O-1001", "customer": "C-17", "item": "spade", "total": 49.0},
                "O-1002": {"order": "O-1002", "customer": "C-17", "item": "mower", "total": 899.0},
                "O-1003": {"order": "O-1003", "customer": "C-42", "item": "hose", "total": 29.5},
            },
        )
    )


def close_book() -> None:
    """Teardown hook: close the book that was opened last."""
    _book.pop()


def book() -> Book:
    """The open book; LookupError when no composition is open."""
    if not _book:
        raise LookupError("the book is closed: open the agent first")
    return _book[-1]


async def lookup_customer(arguments: Mapping[str, Any]) -> str:
    """Find a customer by e-mail address or id."""
    key = arguments["key"]
    for customer in book().customers.values():
        if key in (customer["id"], customer["email"]):
            return json.dumps(customer)
    raise LookupError(f"no customer {key}")


async def lookup_internal_notes(arguments: Mapping[str, Any]) -> str:
    """Read what colleagues noted about a customer."""
    return book().notes.get(arguments["customer"], "no notes")


async def list_orders(arguments: Mapping[str, Any]) -> str:
    """List the newest orders of a customer."""
    found = [order for order in book().orders.values() if order["customer"] == arguments["customer"]]
    newest = sorted(found, key=lambda order: order["order"], reverse=True)
    return json.dumps(newest[: arguments.get("limit", 10)])


async def refund_order(arguments: Mapping[str, Any]) -> str:
    """Pay an order back."""
    order = book().orders[arguments["order"]]
    if arguments["amount"] > order["total"]:
        raise ValueError(f"order {order['order']} cost {order['total']}")
    book().refunds.append(dict(arguments))
    return f"refunded {arguments['amount']:.2f} EUR for {order['order']}"
