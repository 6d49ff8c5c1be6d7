public import Groundwork

extension HomeViewModel {
  /// The sign-out button was tapped: as `logout`, for callers that cannot wait.
  public func logoutTapped(tasks: TaskStarter = TaskStarter()) {
    tasks.start { [weak self] in await self?.logout() }
  }
}

extension RootViewModel {
  /// The user wants the store to be asked again: as `restore`, for callers that cannot wait.
  public func restoreTapped(tasks: TaskStarter = TaskStarter()) {
    tasks.start { [weak self] in await self?.restore() }
  }
}

extension AuthViewModel {
  /// The user wants the service to be asked again: as `restore`, for callers that cannot wait.
  public func restoreTapped(tasks: TaskStarter = TaskStarter()) {
    tasks.start { [weak self] in await self?.restore() }
  }
}
