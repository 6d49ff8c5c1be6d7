/// A call that does something; LOOT is what the server has given out, NUMBER any number.
struct KnownCall: Sendable {
  let method: String
  let path: String
  let body: String

  init(_ method: String, _ path: String, _ body: String = "") {
    self.method = method
    self.path = path
    self.body = body
  }

  static let all = chirp + supabase + oauth + scripts + admin

  private static let chirp = [
    KnownCall("GET", "/me"), KnownCall("GET", "/feed?limit=3"), KnownCall("GET", "/envelope/me"),
    KnownCall("POST", "/auth/login", #"{"email":"anna@example.com","password":"password123"}"#),
    KnownCall("POST", "/envelope/login", #"{"username":"anna","password":"password123"}"#),
    KnownCall("POST", "/auth/refresh", #"{"refreshToken":"LOOT"}"#),
    KnownCall("POST", "/envelope/refresh", #"{"refreshToken":"LOOT"}"#),
    KnownCall("POST", "/auth/logout", #"{"refreshToken":"LOOT"}"#),
    KnownCall("POST", "/posts", #"{"text":"no NUMBER"}"#),
    KnownCall(
      "POST", "/auth/register", #"{"username":"uNUMBER","email":"uNUMBER@example.com","password":"password123"}"#),
  ]

  private static let supabase = [
    KnownCall(
      "POST", "/auth/v1/signup", #"{"email":"sNUMBER@example.com","password":"password123","data":{"a":[1,null]}}"#),
    KnownCall("POST", "/auth/v1/token?grant_type=password", #"{"email":"anna@example.com","password":"password123"}"#),
    KnownCall("POST", "/auth/v1/token?grant_type=refresh_token", #"{"refresh_token":"LOOT"}"#),
    KnownCall("POST", "/auth/v1/token?grant_type=pkce", #"{"auth_code":"LOOT","code_verifier":"LOOT"}"#),
    KnownCall("GET", "/auth/v1/user"),
    KnownCall("PUT", "/auth/v1/user", #"{"data":{"x":NUMBER},"email":"nNUMBER@example.com"}"#),
    KnownCall("POST", "/auth/v1/logout?scope=others"),
    KnownCall("POST", "/auth/v1/otp", #"{"email":"anna@example.com"}"#),
    KnownCall("POST", "/auth/v1/recover", #"{"email":"anna@example.com"}"#),
    KnownCall("POST", "/auth/v1/verify", #"{"type":"recovery","token":"LOOT","email":"anna@example.com"}"#),
    KnownCall("GET", "/auth/v1/verify?token=LOOT&type=signup"), KnownCall("GET", "/auth/v1/settings"),
    KnownCall("GET", "/auth/v1/admin/users"), KnownCall("GET", "/auth/v1/admin/users/LOOT"),
    KnownCall("POST", "/auth/v1/admin/users", #"{"email":"aNUMBER@example.com","password":"password123"}"#),
    KnownCall("PUT", "/auth/v1/admin/users/LOOT", #"{"ban_duration":"1h"}"#),
    KnownCall("DELETE", "/auth/v1/admin/users/LOOT"),
  ]

  private static let oauth = [
    KnownCall(
      "POST", "/oauth2/token", "grant_type=password&username=anna%40example.com&password=password123&client_id=x"),
    KnownCall("POST", "/oauth2/token", "grant_type=refresh_token&refresh_token=LOOT&client_id=x"),
    KnownCall("POST", "/oauth2/token", "grant_type=authorization_code&code=LOOT&code_verifier=LOOT&client_id=x"),
    KnownCall("POST", "/oauth2/device_authorization", "client_id=x"),
    KnownCall("POST", "/oauth2/introspect", "token=LOOT"),
    KnownCall("POST", "/oauth2/revoke", "token=LOOT&token_type_hint=access_token"),
    KnownCall("GET", "/oauth2/userinfo"),
    KnownCall("GET", "/oauth2/authorize?response_type=code&client_id=x&code_challenge=LOOT&code_challenge_method=S256"),
  ]

  private static let scripts = [
    #"{"operation":"me","actions":[{"status":503},{"delay":"5s","hold":"h"},{"break":"reset"}],"then":"repeat"}"#,
    #"{"operation":"refresh","actions":[{"phase":"after-commit","break":"close"},{"hold":"h","phase":"before"}]}"#,
    #"{"endpoint":"POST /auth/login","actions":[{"phase":"mid-body","after":9},{"break":"wrong-type"}],"then":"fail"}"#,
    #"{"operation":"login","actions":[{"delay":{"distribution":"uniform","min":0,"max":"9s"},"revoke":"session"}]}"#,
    #"{"operation":"me","actions":[{"break":"malformed"},{"break":"truncate","after":NUMBER},{"break":"drip"}]}"#,
  ].map { KnownCall("PUT", "/__mock/scripts", $0) }

  private static let admin = [
    KnownCall(
      "PUT", "/__mock/policy",
      #"{"rotation":"gotrue","accessTTL":"5s","rateLimit":{"limit":NUMBER,"per":"1m","operations":["me"]}}"#),
    KnownCall("PUT", "/__mock/policy", #"{"rotation":"grace","accessTTL":"15m","rateLimit":null,"tokens":"jwt"}"#),
    KnownCall("PUT", "/__mock/policy", #"{"tokens":"opaque","cors":{"origins":["*"],"credentials":true}}"#),
    KnownCall("POST", "/__mock/clock", #"{"advance":"1m"}"#),
    KnownCall("POST", "/__mock/clock", #"{"set":"2031-01-01T00:00:00Z"}"#),
    KnownCall("POST", "/__mock/sessions", #"{"user":"anna@example.com","accessTTL":"-5s"}"#),
    KnownCall("POST", "/__mock/sessions", #"{"user":"anna@example.com"}"#),
    KnownCall("POST", "/__mock/revoke", #"{"access":"LOOT"}"#),
    KnownCall("POST", "/__mock/revoke", #"{"refresh":"LOOT"}"#),
    KnownCall("POST", "/__mock/release", #"{"hold":"h","count":2}"#),
    KnownCall(
      "POST", "/__mock/users", #"[{"username":"mNUMBER","email":"mNUMBER@example.com","password":"password123"}]"#),
    KnownCall("POST", "/__mock/journal/order", #"{"order":[{"operation":"login"},{"path":"/me"}],"only":true}"#),
    KnownCall("GET", "/__mock/state"), KnownCall("GET", "/__mock/journal?since=NUMBER"),
    KnownCall("GET", "/__mock/scripts"),
    KnownCall("GET", "/__mock/journal/count?operation=me&wait=NUMBER&timeout=5s"), KnownCall("GET", "/__mock/realms"),
    KnownCall("DELETE", "/__mock/scripts"), KnownCall("DELETE", "/__mock/realms?idle=0s"),
    KnownCall("GET", "/__mock/openapi.json"), KnownCall("GET", "/__mock/keys"), KnownCall("GET", "/__mock/mails"),
  ]
}
