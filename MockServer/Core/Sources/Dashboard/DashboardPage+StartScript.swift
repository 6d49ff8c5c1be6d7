// swift-format-ignore-file
// Made from MockServer/Dashboard/Page/start.js by Tools/dashboard: change that file, then run make dashboard.

extension DashboardPage {
  static let startScript = #"""
    setUpRealm();
    setUpClock();
    setUpUsers();
    setUpRequests();
    setUpSessions();
    setUpSequence();
    setUpRules();
    showTab(hashTab());
    follow();
    """#
}
