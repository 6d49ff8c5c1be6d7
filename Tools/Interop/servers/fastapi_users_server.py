"""A REST server with fastapi-users: bearer tokens kept in its database, so that a sign-out revokes them; no refresh tokens."""

import contextlib
import os
import sys
import uuid

import uvicorn
from fastapi import Depends, FastAPI
from fastapi_users import BaseUserManager, FastAPIUsers, UUIDIDMixin, schemas
from fastapi_users.authentication import AuthenticationBackend, BearerTransport
from fastapi_users.authentication.strategy.db import DatabaseStrategy
from fastapi_users_db_sqlalchemy import SQLAlchemyBaseUserTableUUID, SQLAlchemyUserDatabase
from fastapi_users_db_sqlalchemy.access_token import SQLAlchemyAccessTokenDatabase, SQLAlchemyBaseAccessTokenTableUUID
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase

FOLDER, PORT, LIFETIME = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Base(DeclarativeBase):
    pass


class User(SQLAlchemyBaseUserTableUUID, Base):
    pass


class AccessToken(SQLAlchemyBaseAccessTokenTableUUID, Base):
    pass


engine = create_async_engine("sqlite+aiosqlite:///" + os.path.join(FOLDER, "fastapi.sqlite3"))
sessions = async_sessionmaker(engine, expire_on_commit=False)


async def session():
    async with sessions() as one:
        yield one


async def users(one=Depends(session)):
    yield SQLAlchemyUserDatabase(one, User)


async def tokens(one=Depends(session)):
    yield SQLAlchemyAccessTokenDatabase(one, AccessToken)


class Manager(UUIDIDMixin, BaseUserManager[User, uuid.UUID]):
    reset_password_token_secret = verification_token_secret = "interop-" + "x" * 40


async def manager(database=Depends(users)):
    yield Manager(database)


def strategy(database=Depends(tokens)):
    return DatabaseStrategy(database, lifetime_seconds=LIFETIME)


backend = AuthenticationBackend("db", BearerTransport("auth/db/login"), strategy)
fastapi_users = FastAPIUsers[User, uuid.UUID](manager, [backend])


class Read(schemas.BaseUser[uuid.UUID]):
    pass


class Create(schemas.BaseUserCreate):
    pass


class Update(schemas.BaseUserUpdate):
    pass


@contextlib.asynccontextmanager
async def life(_):
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    yield


app = FastAPI(lifespan=life)
app.include_router(fastapi_users.get_auth_router(backend), prefix="/auth/db")
app.include_router(fastapi_users.get_register_router(Read, Create), prefix="/auth")
app.include_router(fastapi_users.get_users_router(Read, Update), prefix="/users")

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
