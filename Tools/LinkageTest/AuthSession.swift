import AuthSession

print(try ServerIdentity("https://auth.example.com").text)
