import Foundation

/// A version of a family that is read on demand, and only once.
final class VersionFile: Sendable {
  let name: String
  /// The location of the version; nil if it was created in code.
  let url: URL?
  private let read: @Sendable () throws -> ModelVersion
  private let result = LockProtected<Result<ModelVersion, PersistenceError>?>(nil)

  /// Wraps an existing version.
  init(_ version: ModelVersion) {
    name = version.name
    url = version.url
    read = { version }
    result.withLock { $0 = .success(version) }
  }

  init(_ name: String, url: URL, read: @escaping @Sendable () throws -> ModelVersion) {
    self.name = name
    self.url = url
    self.read = read
  }

  /// Returns the version; the first call reads it.
  func version() throws(PersistenceError) -> ModelVersion {
    let result = result.withLock { known in
      if let known { return known }
      let new: Result<ModelVersion, PersistenceError>
      do {
        new = .success(try read())
      } catch let error as PersistenceError {
        new = .failure(error)
      } catch {
        new = .failure(PersistenceError(.fileAccess, at: url.map { .file($0) } ?? .unknown, error.localizedDescription))
      }
      known = new
      return new
    }
    return try result.get()
  }

  /// The version if it has already been read.
  var loaded: ModelVersion? { result.withLock { try? $0?.get() } }
}
