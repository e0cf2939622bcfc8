import Foundation

#if !(os(Linux) || os(Android) || canImport(Darwin) || os(FreeBSD))
  /// A system without events of files that suit a store, such as Windows: changes are found by asking repeatedly.
  final class FolderEvents: Sendable {
    init?(in folder: URL, names: Set<String>) { return nil }

    func wait(_ milliseconds: Int32) {}

    func end() {}
  }
#endif
