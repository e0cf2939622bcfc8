public import Foundation

#if canImport(PersistPostgreSQL)
  import Persist
  import PersistPostgreSQL
#endif

/// Runs `body` with a new folder, which is removed afterward.
public func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
  let folder = try makeTemporaryFolder()
  defer { try? FileManager.default.removeItem(at: folder) }
  let result = try body(folder)
  LegibleParts.expectNone(in: folder)
  return result
}

/// Runs `body` with a new folder, which is removed afterward.
public func withTemporaryFolder<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: (URL) async throws -> Result
) async throws -> Result {
  let folder = try makeTemporaryFolder()
  defer { try? FileManager.default.removeItem(at: folder) }
  let result = try await body(folder)
  LegibleParts.expectNone(in: folder)
  return result
}

/// Runs `body` with the location of a store in a new folder; there is no store yet.
///
/// With `PERSIST_TEST_ENGINE=postgresql` it is a place on the server for tests: `Scripts/test --engine postgresql` runs
/// the tests that aren't about files with it.
public func withTemporaryStore<Result>(_ body: (URL) throws -> Result) throws -> Result {
  guard TestEngine.current == .sqlite else { return try withTemporaryServerStore(body) }
  return try withTemporaryFile(body)
}

/// Runs `body` with the location of a file in a new folder, whatever the engine of the run is.
public func withTemporaryFile<Result>(_ body: (URL) throws -> Result) throws -> Result {
  try withTemporaryFolder { try body($0.appendingPathComponent("Store.sqlite")) }
}

#if canImport(PersistPostgreSQL)
  private func withTemporaryServerStore<Result>(_ body: (URL) throws -> Result) throws -> Result {
    try TestServer.withSchema { text in
      guard let url = URL(string: text) else { throw URLError(.badURL) }
      return try body(url)
    }
  }
#else
  private func withTemporaryServerStore<Result>(_ body: (URL) throws -> Result) throws -> Result {
    throw ForeignSQL.Failure(description: "libpq isn't installed.")
  }
#endif

/// The location of a store for the command line of another program: a file's path or a server's URL.
public func storeArgument(_ url: URL) -> String { url.isFileURL ? url.path : url.absoluteString }

/// The store that a program's argument names, of which a server needs a driver.
public func storeURL(ofArgument argument: String) -> URL {
  TestKey.install
  #if canImport(PersistPostgreSQL)
    if argument.contains("://"), let url = URL(string: argument) {
      _ = try? StoreLocation.postgreSQL(argument)
      return url
    }
  #endif
  return URL(fileURLWithPath: argument)
}

/// The location of another store, of the same engine, that is deleted together with the one beside it.
public func otherStore(_ name: String, beside url: URL) -> URL {
  #if canImport(PersistPostgreSQL)
    if !url.isFileURL { return TestServer.otherSchema(name, beside: url) }
  #endif
  return url.deletingLastPathComponent().appendingPathComponent(name + ".sqlite")
}

/// Runs `body` with a copy of a real store, including its `-wal` and its folder of external files.
///
/// - Parameters:
///   - path: The path within `coredata` of the collection.
///   - body: Called with the location of the copy.
public func withCopy<Result>(ofStore path: String, _ body: (URL) throws -> Result) throws -> Result {
  try withCopy(ofStore: SharedData.url(path), body)
}

/// Runs `body` with a copy of a store, including its `-wal` and its folder of external files.
public func withCopy<Result>(ofStore store: URL, _ body: (URL) throws -> Result) throws -> Result {
  try withTemporaryFolder { try body(copyStore(store, to: $0)) }
}

/// Copies a store with everything that belongs to it and returns the copy's location.
@discardableResult
public func copyStore(_ store: URL, to folder: URL) throws -> URL {
  let files = FileManager.default
  let name = store.lastPathComponent
  let beside = store.deletingLastPathComponent()
  let stem = store.deletingPathExtension().lastPathComponent
  for part in [name, "\(name)-wal", "\(name)-journal", ".\(stem)_SUPPORT", ".\(name)_SUPPORT"] {
    let source = beside.appendingPathComponent(part)
    guard files.fileExists(atPath: source.path) else { continue }
    let target = folder.appendingPathComponent(part)
    try files.copyItem(at: source, to: target)
    // The collection may be read-only, but copies must be writable.
    try files.setAttributes([.posixPermissions: part.hasSuffix("_SUPPORT") ? 0o755 : 0o644], ofItemAtPath: target.path)
  }
  let copy = folder.appendingPathComponent(name)
  try TestKey.encrypt(copy)
  return copy
}

private func makeTemporaryFolder() throws -> URL {
  TestKey.install
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("persist-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  return folder
}
