import Foundation

/// Shares the large values of a store with its copy while both exist: as links if the file system supports them,
/// otherwise as copies.
struct LargeValueLinks {
  let source: ExternalDataFolder
  let target: ExternalDataFolder

  init(from source: ExternalDataFolder, to target: ExternalDataFolder) {
    self.source = source
    self.target = target
  }

  func make() throws {
    let names = source.names()
    guard !names.isEmpty else { return }
    let files = FileManager.default
    do {
      try target.make(like: source.permissions)
      for name in names {
        guard let file = try? source.file(named: name), try target.file(named: name) == nil else { continue }
        let link = target.url.appendingPathComponent(name)
        do {
          try files.linkItem(at: file, to: link)
        } catch {
          try LargeValueCopies.copy(file, to: link, drafts: target.url, like: nil)
        }
      }
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(target.url), "The large values can't be transferred to the new store: "
          + error.localizedDescription, fix: "Check the free disk space and the permissions of the store's folder.")
    }
  }
}
