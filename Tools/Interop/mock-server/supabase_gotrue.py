"""`gotrue`, Supabase's own client for Python, unchanged, against /auth/v1 (issue 5)."""

import sys

from gotrue import SyncGoTrueClient, SyncMemoryStorage
from gotrue.errors import AuthApiError, AuthInvalidCredentialsError, AuthSessionMissingError, AuthWeakPasswordError

from steps import admin, expect, finish, refused, step

realm = sys.argv[1]
keys = admin(realm, "GET", "keys")
admin(realm, "PUT", "policy", {"rotation": "gotrue", "grace": "10s"})
admin(realm, "POST", "clock", {"mode": "virtual"})


def new_client(key="anonKey"):
    return SyncGoTrueClient(
        url=f"{realm}/auth/v1",
        headers={"apikey": keys[key], "Authorization": f"Bearer {keys[key]}"},
        storage=SyncMemoryStorage(),
        auto_refresh_token=False,
    )


client = new_client()
anna = {"email": "anna@example.com", "password": "password123"}


@step("a sign-up signs in")
def _():
    answer = client.sign_up({**anna, "options": {"data": {"name": "Anna"}}})
    expect(answer.session is not None and answer.session.token_type == "bearer", answer)
    expect(answer.user.email == anna["email"] and answer.user.user_metadata == {"name": "Anna"}, answer.user)
    expect(answer.user.identities[0].provider == "email", answer.user.identities)
    expect(answer.user.email_confirmed_at is not None, answer.user)


@step("the same email again is refused as user_already_exists")
def _():
    error = refused(AuthApiError, lambda: new_client().sign_up(anna))
    expect(error.code == "user_already_exists" and error.status == 422, error.to_dict())


@step("a weak password is refused with its reasons")
def _():
    error = refused(AuthWeakPasswordError, lambda: new_client().sign_up({"email": "b@example.com", "password": "abc"}))
    expect(error.reasons == ["length"], error.reasons)


@step("sign-out ends the session, and the client has none")
def _():
    session = client.get_session()
    client.sign_out()
    expect(client.get_session() is None, "still a session")
    error = refused(AuthApiError, lambda: client.get_user(session.access_token))
    expect(error.code == "session_not_found" and error.status == 403, error.to_dict())


@step("a wrong password is refused as invalid_credentials")
def _():
    error = refused(AuthApiError, lambda: client.sign_in_with_password({**anna, "password": "wrong password"}))
    expect(error.code == "invalid_credentials" and error.status == 400, error.to_dict())
    expect(error.message == "Invalid login credentials", error.message)


@step("sign-in with the password")
def _():
    answer = client.sign_in_with_password(anna)
    expect(answer.session.expires_in == 900 and len(answer.session.refresh_token) == 12, answer.session)


@step("the user is read")
def _():
    expect(client.get_user().user.email == anna["email"], "another user")


@step("the user is updated")
def _():
    answer = client.update_user({"data": {"nick": "an"}})
    expect(answer.user.user_metadata == {"name": "Anna", "nick": "an"}, answer.user.user_metadata)


first = client.get_session()


@step("refresh gives another pair")
def _():
    answer = client.refresh_session()
    expect(answer.session.refresh_token != first.refresh_token, "the refresh token stayed")
    expect(answer.session.access_token != first.access_token, "the access token stayed")


@step("the parent of the current token gets the current one again")
def _():
    current = client.get_session()
    answer = new_client().refresh_session(first.refresh_token)
    expect(answer.session.refresh_token == current.refresh_token, "another token")


@step("an expired access token is refreshed when the session is set")
def _():
    expired = admin(realm, "POST", "sessions", {"user": anna["email"], "accessTTL": "-1s", "dialect": "supabase"})
    other = new_client()
    error = refused(AuthApiError, lambda: other.get_user(expired["accessToken"]))
    expect(error.code == "bad_jwt" and error.status == 403, error.to_dict())
    answer = other.set_session(expired["accessToken"], expired["refreshToken"])
    expect(other.get_user().user.email == anna["email"], "another user")
    expect(answer.session.access_token != expired["accessToken"], "not refreshed")


@step("an older token, after the interval, is reuse: the whole session ends")
def _():
    client.refresh_session()
    admin(realm, "POST", "clock", {"advance": "11s"})
    error = refused(AuthApiError, lambda: new_client().refresh_session(first.refresh_token))
    expect(error.code == "refresh_token_already_used" and error.status == 400, error.to_dict())
    error = refused(AuthApiError, lambda: client.refresh_session())
    expect(error.code == "refresh_token_already_used", error.to_dict())


@step("an unknown refresh token is refused as such")
def _():
    error = refused(AuthApiError, lambda: new_client().refresh_session("abcdefghij01"))
    expect(error.code == "refresh_token_not_found", error.to_dict())


@step("sign-out of others leaves this session alone")
def _():
    one, two = new_client(), new_client()
    one.sign_in_with_password(anna)
    two.sign_in_with_password(anna)
    one.sign_out({"scope": "others"})
    expect(one.get_user().user is not None, "this one has ended too")
    error = refused(AuthApiError, lambda: two.get_user())
    expect(error.code == "session_not_found", error.to_dict())


@step("without autoconfirm a sign-up gives no session, and a code from the mail does")
def _():
    admin(realm, "PUT", "policy", {"autoconfirm": False})
    other = new_client()
    eve = {"email": "eve@example.com", "password": "password123"}
    answer = other.sign_up(eve)
    expect(answer.session is None and answer.user.confirmation_sent_at is not None, answer)
    error = refused(AuthApiError, lambda: other.sign_in_with_password(eve))
    expect(error.code == "email_not_confirmed", error.to_dict())
    code = admin(realm, "GET", "mails")["mails"][-1]["code"]
    answer = other.verify_otp({"email": eve["email"], "token": code, "type": "signup"})
    expect(answer.session is not None and answer.user.email_confirmed_at is not None, answer)
    admin(realm, "PUT", "policy", {"autoconfirm": True})


@step("the access token's signature is checked against the JWKS by the client")
def _():
    admin(realm, "PUT", "policy", {"tokens": "jwt-es256"})
    other = new_client()
    other.sign_in_with_password(anna)
    claims = other.get_claims()["claims"]
    expect(claims["email"] == anna["email"] and claims["role"] == "authenticated", claims)
    admin(realm, "PUT", "policy", {"tokens": "opaque"})


@step("the service-role key lists, bans and deletes users; the anon key does not (D4.2)")
def _():
    service = new_client("serviceRoleKey")
    users = service.admin.list_users()
    expect({user.email for user in users} == {"anna@example.com", "eve@example.com"}, users)
    error = refused(AuthApiError, lambda: new_client().admin.list_users())
    expect(error.code == "not_admin" and error.status == 403, error.to_dict())
    eve = next(user for user in users if user.email == "eve@example.com")
    service.admin.update_user_by_id(eve.id, {"ban_duration": "1h"})
    error = refused(
        AuthApiError,
        lambda: new_client().sign_in_with_password({"email": "eve@example.com", "password": "password123"}),
    )
    expect(error.code == "user_banned", error.to_dict())
    service.admin.delete_user(eve.id)
    expect([user.email for user in service.admin.list_users()] == ["anna@example.com"], "not deleted")


@step("the rate limit is told as over_request_rate_limit")
def _():
    admin(realm, "PUT", "policy", {"rateLimit": {"limit": 0, "per": "1m", "operations": ["login"]}})
    error = refused(AuthApiError, lambda: new_client().sign_in_with_password(anna))
    expect(error.code == "over_request_rate_limit" and error.status == 429, error.to_dict())
    admin(realm, "PUT", "policy", {"rateLimit": None})


finish()
