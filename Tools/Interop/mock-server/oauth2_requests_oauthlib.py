"""`oauthlib` by way of `requests-oauthlib`, unchanged: code with PKCE, password, refresh, client credentials (issue 8)."""

import sys
from html.parser import HTMLParser

import requests
from oauthlib.oauth2 import (
    AccessDeniedError,
    BackendApplicationClient,
    InvalidClientError,
    InvalidGrantError,
    InvalidScopeError,
    LegacyApplicationClient,
    MismatchingStateError,
    UnsupportedGrantTypeError,
    WebApplicationClient,
)
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

from steps import admin, expect, finish, refused, step

realm = sys.argv[1]
admin(realm, "POST", "users", [{"username": "anna", "email": "anna@example.com", "password": "password123"}])
metadata = requests.get(f"{realm}/.well-known/oauth-authorization-server", timeout=30).json()
token_url = metadata["token_endpoint"]
redirect = "http://localhost:4711/"
service = HTTPBasicAuth("chirp-service", "chirp-service-secret")


class Form(HTMLParser):
    """The form of a page: where it goes, and what stands in it."""

    def __init__(self, text):
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.action = attributes["action"]
        if tag == "input":
            self.fields[attributes["name"]] = attributes.get("value", "")


def sign_in(url, **fields):
    """Fills the form in as a person does; gives where the browser is sent."""
    page = requests.get(url, timeout=30)
    expect(page.status_code == 200 and page.headers["Content-Type"].startswith("text/html"), page.text)
    form = Form(page.text)
    answer = requests.post(form.action, data={**form.fields, **fields}, allow_redirects=False, timeout=30)
    expect(answer.status_code == 302, f"{answer.status_code}: {answer.text[:300]}")
    return answer.headers["Location"]


person = {"username": "anna@example.com", "password": "password123", "decision": "allow"}


def new_session():
    return OAuth2Session("chirp", redirect_uri=redirect, scope=["openid", "email"], pkce="S256")


@step("authorization code with PKCE, by a person at the form")
def session():
    session = new_session()
    url, _ = session.authorization_url(metadata["authorization_endpoint"])
    token = session.fetch_token(
        token_url, authorization_response=sign_in(url, **person), include_client_id=True)
    expect(token["token_type"] == "Bearer" and set(token["scope"]) == {"openid", "email"}, token)
    return session


@step("userinfo with the bearer")
def _():
    answer = session.get(metadata["userinfo_endpoint"])
    expect(answer.status_code == 200 and answer.json()["email"] == "anna@example.com", answer.text)


@step("refresh rotates; with a narrower scope the new access token may do less")
def _():
    first = session.token["refresh_token"]
    session.refresh_token(token_url, client_id="chirp")
    expect(session.token["refresh_token"] != first, "not rotated")
    narrow = OAuth2Session("chirp", scope=["email"], token=session.token)
    token = narrow.refresh_token(token_url, client_id="chirp")
    expect(list(token["scope"]) == ["email"], token)
    expect(narrow.get(metadata["userinfo_endpoint"]).status_code == 403, "openid is still there")
    session.token = {**session.token, "refresh_token": token["refresh_token"]}
    session.refresh_token(token_url, client_id="chirp")
    expect(session.get(metadata["userinfo_endpoint"]).status_code == 200, "openid has not come back")


@step("a spent refresh token is refused")
def _():
    spent = session.token["refresh_token"]
    session.refresh_token(token_url, client_id="chirp")
    refused(InvalidGrantError, lambda: session.refresh_token(token_url, client_id="chirp", refresh_token=spent))


@step("a person who says no: access_denied")
def _():
    other = new_session()
    url, _ = other.authorization_url(metadata["authorization_endpoint"])
    location = sign_in(url, **{**person, "decision": "deny"})
    refused(
        AccessDeniedError,
        lambda: other.fetch_token(token_url, authorization_response=location, include_client_id=True))


@step("an answer to another request is not taken")
def _():
    one, two = new_session(), new_session()
    url, _ = one.authorization_url(metadata["authorization_endpoint"])
    two.authorization_url(metadata["authorization_endpoint"])
    location = sign_in(url, **person)
    refused(
        MismatchingStateError,
        lambda: two.fetch_token(token_url, authorization_response=location, include_client_id=True))


@step("a redirect to another port than that of the request is refused at the token endpoint")
def _():
    other = new_session()
    url, _ = other.authorization_url(metadata["authorization_endpoint"])
    location = sign_in(url, **person)
    other.redirect_uri = "http://localhost:4712/"
    refused(
        InvalidGrantError,
        lambda: other.fetch_token(token_url, authorization_response=location, include_client_id=True))


@step("a redirect that is not registered never leaves the server")
def _():
    other = OAuth2Session("chirp", redirect_uri="http://evil.example/", pkce="S256")
    url, _ = other.authorization_url(metadata["authorization_endpoint"], login_hint="anna@example.com")
    answer = requests.get(url, allow_redirects=False, timeout=30)
    expect(answer.status_code == 400 and "Location" not in answer.headers, answer.headers)


@step("a confidential client's code, by Basic")
def _():
    other = OAuth2Session(client=WebApplicationClient("chirp-service"), redirect_uri=redirect, scope=["openid"])
    url, _ = other.authorization_url(metadata["authorization_endpoint"])
    token = other.fetch_token(token_url, authorization_response=sign_in(url, **person), auth=service)
    expect(token["id_token"].count(".") == 2, token)


@step("password")
def _():
    other = OAuth2Session(client=LegacyApplicationClient("chirp", scope=["email"]))
    token = other.fetch_token(
        token_url, username="anna", password="password123", client_id="chirp", include_client_id=True)
    expect(token["expires_in"] == 900, token)
    answer = other.get(f"{realm}/me")
    expect(answer.status_code == 200 and answer.json()["username"] == "anna", answer.text)


@step("a wrong password is invalid_grant")
def _():
    other = OAuth2Session(client=LegacyApplicationClient("chirp"))
    refused(
        InvalidGrantError,
        lambda: other.fetch_token(
            token_url, username="anna", password="wrong password", client_id="chirp", include_client_id=True))


@step("client credentials, by Basic and by post")
def _():
    for more in ({"auth": service}, {"client_id": "chirp-service", "client_secret": "chirp-service-secret",
                                     "include_client_id": True}):
        other = OAuth2Session(client=BackendApplicationClient("chirp-service"))
        token = other.fetch_token(token_url, **more)
        expect("refresh_token" not in token, token)


@step("a wrong secret is invalid_client, an unknown scope invalid_scope")
def _():
    other = OAuth2Session(client=BackendApplicationClient("chirp-service"))
    refused(InvalidClientError, lambda: other.fetch_token(token_url, auth=HTTPBasicAuth("chirp-service", "wrong")))
    other = OAuth2Session(client=BackendApplicationClient("chirp-service", scope=["everything"]))
    refused(InvalidScopeError, lambda: other.fetch_token(token_url, auth=service))


@step("a grant that nobody knows is unsupported_grant_type")
def _():
    client = BackendApplicationClient("chirp-service")
    client.grant_type = "tea"
    refused(UnsupportedGrantTypeError, lambda: OAuth2Session(client=client).fetch_token(token_url, auth=service))


finish()
