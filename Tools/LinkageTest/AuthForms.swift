import AuthForms

print(LoginViewModel.self)
