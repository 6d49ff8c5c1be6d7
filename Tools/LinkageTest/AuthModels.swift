import AuthModels

print(Credentials(identifier: "anna@example.com", password: "password123"))
