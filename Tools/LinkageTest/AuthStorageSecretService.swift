import AuthStorageSecretService

print(SecretServiceItems.self)
