"""A REST server with djangorestframework-simplejwt: rotation and blacklist, as its documentation sets them up. One file, one process."""

import os
import sys

import django
from django.conf import settings

FOLDER, PORT = sys.argv[1], sys.argv[2]
ACCESS, REFRESH = int(sys.argv[3]), int(sys.argv[4])

from datetime import timedelta  # noqa: E402

settings.configure(
    SECRET_KEY="interop-" + "x" * 40,
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(FOLDER, "simplejwt.sqlite3")}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "rest_framework",
        "rest_framework_simplejwt.token_blacklist",
    ],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    },
    SIMPLE_JWT={
        "ACCESS_TOKEN_LIFETIME": timedelta(seconds=ACCESS),
        "REFRESH_TOKEN_LIFETIME": timedelta(seconds=REFRESH),
        "ROTATE_REFRESH_TOKENS": True,
        "BLACKLIST_AFTER_ROTATION": True,
    },
)
django.setup()

from django.core.management import call_command, execute_from_command_line  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.decorators import api_view  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework_simplejwt.views import TokenBlacklistView, TokenObtainPairView, TokenRefreshView  # noqa: E402


@api_view(["GET"])
def me(request):
    return Response({"id": request.user.id, "username": request.user.username, "email": request.user.email})


urlpatterns = [
    path("api/token/", TokenObtainPairView.as_view()),
    path("api/token/refresh/", TokenRefreshView.as_view()),
    path("api/token/blacklist/", TokenBlacklistView.as_view()),
    path("api/me/", me),
]

if __name__ == "__main__":
    call_command("migrate", verbosity=0, run_syncdb=True)
    from django.contrib.auth.models import User

    if not User.objects.filter(username="anna").exists():
        User.objects.create_user("anna", "anna@example.com", "password123")
    execute_from_command_line([sys.argv[0], "runserver", "--noreload", "--nothreading", "127.0.0.1:" + PORT])
