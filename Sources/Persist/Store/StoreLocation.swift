package import Foundation

/// The place of a store.
package enum StoreLocation: Sendable, Hashable {
  /// A store that lives as long as it is open.
  case memory
  case file(URL)

  /// - Parameter url: nil for a store in memory.
  package init(_ url: URL?) { self = url.map { .file($0) } ?? .memory }

  /// Nil for a store in memory.
  package var url: URL? {
    if case .file(let url) = self { url } else { nil }
  }
}
