public import Foundation

/// The position of an object in sectioned results.
///
/// A separate type, because Foundation's `IndexPath` has sections and rows only with UIKit or AppKit; ``foundation``
/// converts to it.
public struct ResultIndexPath: Sendable, Hashable, Codable {
  /// The index of the section, from 0.
  public var section: Int
  /// The place within the section.
  public var row: Int

  /// Creates a path from the indexes of a section and of a row in it, both counted from 0.
  public init(section: Int, row: Int) {
    self.section = section
    self.row = row
  }

  /// The argument order of lists and tables.
  public init(row: Int, section: Int) { self.init(section: section, row: row) }

  /// The argument names of collection views.
  public init(item: Int, section: Int) { self.init(section: section, row: item) }

  /// Returns nil if the Foundation path doesn't have exactly two components.
  public init?(_ indexPath: IndexPath) {
    guard indexPath.count == 2 else { return nil }
    self.init(section: indexPath[0], row: indexPath[1])
  }

  /// ``row``, as collection views call it.
  public var item: Int { row }
  /// The path as Foundation's type: section, then row, as UIKit and AppKit use it.
  public var foundation: IndexPath { [section, row] }
}

extension ResultIndexPath: Comparable {
  /// Orders paths by section, then by row: the order of the results.
  public static func < (left: ResultIndexPath, right: ResultIndexPath) -> Bool {
    (left.section, left.row) < (right.section, right.row)
  }
}

extension ResultIndexPath: CustomStringConvertible {
  public var description: String { "(\(section), \(row))" }
}
