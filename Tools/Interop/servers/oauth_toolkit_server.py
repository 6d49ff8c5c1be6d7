"""An authorization server with django-oauth-toolkit: code with PKCE, device code, password, client credentials, OpenID Connect by RS256."""

import os
import sys

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

FOLDER, PORT, ACCESS = sys.argv[1], sys.argv[2], int(sys.argv[3])
KEY = (
    rsa.generate_private_key(public_exponent=65537, key_size=2048)
    .private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    .decode()
)

settings.configure(
    SECRET_KEY="interop-" + "x" * 40,
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    LOGIN_URL="/login/",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(FOLDER, "oauth.sqlite3")}},
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "oauth2_provider",
    ],
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": KEY,
        "PKCE_REQUIRED": True,
        "ACCESS_TOKEN_EXPIRE_SECONDS": ACCESS,
        "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
        "ROTATE_REFRESH_TOKEN": True,
        "SCOPES": {"openid": "who you are", "profile": "your name", "email": "your address", "read": "reading"},
        "OAUTH2_VALIDATOR_CLASS": __name__ + ".Validator",
    },
)
django.setup()

from django.contrib.auth import authenticate, login  # noqa: E402
from django.core.management import call_command, execute_from_command_line  # noqa: E402
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402
from oauth2_provider.decorators import protected_resource  # noqa: E402
from oauth2_provider.oauth2_validators import OAuth2Validator  # noqa: E402


class Validator(OAuth2Validator):
    oidc_claim_scope = None

    def get_additional_claims(self, request):
        return {"preferred_username": request.user.username, "email": request.user.email}


@csrf_exempt
def sign_in(request):
    """The server's own sign-in page, for a browser that can only post a form."""
    user = authenticate(username=request.POST.get("username"), password=request.POST.get("password"))
    if user is None:
        return HttpResponse("wrong", status=403)
    login(request, user)
    return HttpResponseRedirect(request.GET.get("next", "/"))


@protected_resource(scopes=["read"])
def me(request):
    return JsonResponse({"username": request.resource_owner.username})


urlpatterns = [
    path("login/", sign_in),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("me", me),
]

if __name__ == "__main__":
    sys.modules.setdefault("oauth_toolkit_server", sys.modules[__name__])
    call_command("migrate", verbosity=0, run_syncdb=True)
    from django.contrib.auth.models import User
    from oauth2_provider.models import Application

    if not User.objects.filter(username="anna").exists():
        anna = User.objects.create_user("anna", "anna@example.com", "password123")
        common = {"user": anna, "algorithm": "RS256", "skip_authorization": True}
        Application.objects.create(
            client_id="terminal",
            client_type="public",
            authorization_grant_type="authorization-code",
            redirect_uris="http://127.0.0.1/callback",
            **common,
        )
        Application.objects.create(
            client_id="legacy",
            client_type="confidential",
            client_secret="a-client-secret",
            hash_client_secret=False,
            authorization_grant_type="password",
            **common,
        )
        Application.objects.create(
            client_id="robot",
            client_type="confidential",
            client_secret="a-client-secret",
            hash_client_secret=False,
            authorization_grant_type="client-credentials",
            **common,
        )
        Application.objects.create(
            client_id="television",
            client_type="public",
            authorization_grant_type="urn:ietf:params:oauth:grant-type:device_code",
            **common,
        )
    execute_from_command_line([sys.argv[0], "runserver", "--noreload", "--nothreading", "127.0.0.1:" + PORT])
