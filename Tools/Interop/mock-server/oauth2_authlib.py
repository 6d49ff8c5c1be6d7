"""`authlib`, unchanged: every grant of the OAuth 2 dialect, and ID tokens checked against the JWKS (issue 8)."""

import sys
from urllib.parse import parse_qs, urlparse

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, jwt
from authlib.oidc.core import CodeIDToken

from steps import admin, expect, finish, refused, step

realm = sys.argv[1]
host, path = realm.split("/r/")
admin(realm, "POST", "users", [{"username": "anna", "email": "anna@example.com", "password": "password123"}])
admin(realm, "POST", "clock", {"mode": "virtual"})
redirect = "http://127.0.0.1:53219/callback"
device_grant = "urn:ietf:params:oauth:grant-type:device_code"


@step("the metadata stand where RFC 8414 puts them for an issuer with a path")
def metadata():
    metadata = requests.get(f"{host}/.well-known/oauth-authorization-server/r/{path}", timeout=30).json()
    expect(metadata["issuer"] == realm, metadata["issuer"])
    same = requests.get(f"{realm}/.well-known/openid-configuration", timeout=30).json()
    expect(same == metadata, "OpenID's document differs")
    from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

    document = dict(metadata)
    checked = AuthorizationServerMetadata(document)
    # authlib wants https, which a server on a loopback port does not have: each check but those of the scheme.
    for name in ("response_types_supported", "grant_types_supported", "token_endpoint_auth_methods_supported",
                 "scopes_supported", "code_challenge_methods_supported"):
        getattr(checked, f"validate_{name}")()
    return metadata


def public(**more):
    return OAuth2Session(
        "chirp", redirect_uri=redirect, scope="openid profile email", code_challenge_method="S256",
        token_endpoint_auth_method="none", token_endpoint=metadata["token_endpoint"],
        revocation_endpoint_auth_method="none", **more,
    )


def confidential(method):
    return OAuth2Session(
        "chirp-service", "chirp-service-secret", redirect_uri=redirect, token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method, introspection_endpoint_auth_method=method,
    )


def authorize(session, **more):
    """Follows the authorization request as a browser would; gives the verifier and where it was sent back to."""
    verifier = generate_token(48)
    url, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, **{"login_hint": "anna@example.com", **more})
    answer = requests.get(url, allow_redirects=False, timeout=30)
    expect(answer.status_code == 302, f"{answer.status_code} {answer.text[:200]}")
    location = answer.headers["Location"]
    query = parse_qs(urlparse(location).query)
    expect(query["state"] == [state] and query["iss"] == [realm], location)
    return verifier, location


session = public()


@step("authorization code with PKCE")
def code_token():
    verifier, location = authorize(session, nonce="n-0S6_WzA2Mj")
    token = session.fetch_token(metadata["token_endpoint"], authorization_response=location, code_verifier=verifier)
    expect(token["token_type"] == "Bearer" and token["expires_in"] == 900, token)
    expect(token["scope"] == "openid profile email" and token["refresh_token"], token)
    return token


@step("the ID token is signed by a key of the JWKS and is for this client")
def _():
    keys = JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"], timeout=30).json())
    claims = jwt.decode(
        code_token["id_token"], keys, claims_cls=CodeIDToken,
        claims_options={"iss": {"value": realm}, "aud": {"value": "chirp"}},
        claims_params={"nonce": "n-0S6_WzA2Mj", "client_id": "chirp", "access_token": code_token["access_token"]},
    )
    claims.validate(leeway=60)
    expect(claims["email"] == "anna@example.com" and claims["preferred_username"] == "anna", claims)


@step("userinfo")
def _():
    answer = session.get(metadata["userinfo_endpoint"]).json()
    expect(answer["email"] == "anna@example.com" and answer["email_verified"] is True, answer)


@step("refresh rotates, and the spent token is refused")
def _():
    spent = session.token["refresh_token"]
    token = session.refresh_token(metadata["token_endpoint"])
    expect(token["refresh_token"] != spent, "not rotated")
    error = refused(OAuthError, lambda: session.refresh_token(metadata["token_endpoint"], refresh_token=spent))
    expect(error.error == "invalid_grant", error)


@step("without rotation the answer has no refresh token, and the old one is kept")
def _():
    admin(realm, "PUT", "policy", {"rotation": "none"})
    other = public()
    verifier, location = authorize(other)
    first = other.fetch_token(metadata["token_endpoint"], authorization_response=location, code_verifier=verifier)
    second = other.refresh_token(metadata["token_endpoint"])
    expect(second["refresh_token"] == first["refresh_token"], "not kept")
    expect(second["access_token"] != first["access_token"], "not refreshed")
    admin(realm, "PUT", "policy", {"rotation": "strict"})


@step("a code that is replayed is refused, and revokes what came of it")
def _():
    other = public()
    verifier, location = authorize(other)
    other.fetch_token(metadata["token_endpoint"], authorization_response=location, code_verifier=verifier)
    expect(other.get(metadata["userinfo_endpoint"]).status_code == 200, "not signed in")
    error = refused(
        OAuthError,
        lambda: public().fetch_token(
            metadata["token_endpoint"], authorization_response=location, code_verifier=verifier))
    expect(error.error == "invalid_grant", error)
    expect(other.get(metadata["userinfo_endpoint"]).status_code == 401, "still signed in")


@step("another verifier is refused")
def _():
    other = public()
    _, location = authorize(other)
    error = refused(
        OAuthError,
        lambda: other.fetch_token(
            metadata["token_endpoint"], authorization_response=location, code_verifier=generate_token(48)))
    expect(error.error == "invalid_grant", error)


@step("a user who says no: access_denied")
def _():
    _, location = authorize(public(), decision="deny")
    query = parse_qs(urlparse(location).query)
    expect(query["error"] == ["access_denied"] and "code" not in query, location)


for method in ("client_secret_basic", "client_secret_post"):

    @step(f"client credentials by {method}")
    def _():
        other = confidential(method)
        token = other.fetch_token(metadata["token_endpoint"], grant_type="client_credentials", scope="profile")
        expect("refresh_token" not in token and token["scope"] == "profile", token)

    @step(f"password, introspection and revocation by {method}")
    def _():
        other = confidential(method)
        token = other.fetch_token(
            metadata["token_endpoint"], grant_type="password", username="anna", password="password123")
        answer = other.introspect_token(metadata["introspection_endpoint"], token=token["access_token"]).json()
        expect(answer["active"] and answer["username"] == "anna" and answer["client_id"] == "chirp-service", answer)
        answer = other.revoke_token(metadata["revocation_endpoint"], token=token["refresh_token"])
        expect(answer.status_code == 200, answer.text)
        answer = other.introspect_token(metadata["introspection_endpoint"], token=token["access_token"]).json()
        expect(answer == {"active": False}, answer)
        error = refused(
            OAuthError,
            lambda: other.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"]))
        expect(error.error == "invalid_grant", error)


@step("a wrong secret is invalid_client")
def _():
    other = OAuth2Session("chirp-service", "wrong", token_endpoint_auth_method="client_secret_basic")
    error = refused(
        OAuthError, lambda: other.fetch_token(metadata["token_endpoint"], grant_type="client_credentials"))
    expect(error.error == "invalid_client", error)


@step("device code: pending, too hasty, approved, and once only")
def _():
    answer = requests.post(
        metadata["device_authorization_endpoint"], data={"client_id": "chirp", "scope": "openid"}, timeout=30).json()

    def poll():
        return public().fetch_token(
            metadata["token_endpoint"], grant_type=device_grant, device_code=answer["device_code"])

    expect(refused(OAuthError, poll).error == "authorization_pending", "not pending")
    expect(refused(OAuthError, poll).error == "slow_down", "not too hasty")
    page = requests.post(
        answer["verification_uri"], timeout=30,
        data={"user_code": answer["user_code"], "username": "anna", "password": "password123", "decision": "allow"})
    expect(page.status_code == 200 and "Connected" in page.text, page.text)
    admin(realm, "POST", "clock", {"advance": f"{answer['interval'] + 5}s"})
    token = poll()
    expect(token["scope"] == "openid" and token["refresh_token"], token)
    expect(refused(OAuthError, poll).error == "invalid_grant", "twice")


@step("device code: denied, and expired")
def _():
    def begin():
        return requests.post(
            metadata["device_authorization_endpoint"], data={"client_id": "chirp"}, timeout=30).json()

    def poll(answer):
        return public().fetch_token(
            metadata["token_endpoint"], grant_type=device_grant, device_code=answer["device_code"])

    denied, expired = begin(), begin()
    requests.post(denied["verification_uri"], data={"user_code": denied["user_code"], "decision": "deny"}, timeout=30)
    expect(refused(OAuthError, lambda: poll(denied)).error == "access_denied", "not denied")
    admin(realm, "POST", "clock", {"advance": f"{expired['expires_in']}s"})
    expect(refused(OAuthError, lambda: poll(expired)).error == "expired_token", "not expired")


finish()
