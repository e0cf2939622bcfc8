import Foundation

/// A version of a family that is read on demand, and only once.
final class VersionFile: Sendable {
  let name: String
  private let location: @Sendable () -> URL?
  private let read: @Sendable () throws -> ModelVersion
  private let result = LockProtected<Result<ModelVersion, PersistenceError>?>(nil)

  /// Wraps an existing version.
  init(_ version: ModelVersion) {
    name = version.name
    location = { version.url }
    read = { version }
    result.withLock { $0 = .success(version) }
  }

  /// - Parameter url: The location; not evaluated for a version that isn't needed, because creating the URLs of all
  ///   versions would take more time than reading one of them.
  init(
    _ name: String, url: @escaping @autoclosure @Sendable () -> URL,
    read: @escaping @Sendable (URL) throws -> ModelVersion
  ) {
    self.name = name
    location = url
    self.read = { try read(url()) }
  }

  /// The location of the version; nil if it was created in code.
  var url: URL? { location() }

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
