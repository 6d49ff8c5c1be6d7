import AuthNetworking

print(API.me().path)
