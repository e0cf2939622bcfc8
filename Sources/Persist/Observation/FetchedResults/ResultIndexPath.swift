public import Foundation

/// The place of an object among results in sections.
///
/// A type of its own, because Foundation's `IndexPath` knows sections and rows only where there is UIKit or AppKit;
/// ``foundation`` is for those.
public struct ResultIndexPath: Sendable, Hashable, Codable {
  public var section: Int
  /// The place within the section.
  public var row: Int

  public init(section: Int, row: Int) {
    self.section = section
    self.row = row
  }

  /// As lists and tables name it.
  public init(row: Int, section: Int) { self.init(section: section, row: row) }

  /// As collection views name it.
  public init(item: Int, section: Int) { self.init(section: section, row: item) }

  /// Nil where a path of Foundation hasn't two parts.
  public init?(_ indexPath: IndexPath) {
    guard indexPath.count == 2 else { return nil }
    self.init(section: indexPath[0], row: indexPath[1])
  }

  /// ``row``, as collection views name it.
  public var item: Int { row }
  public var foundation: IndexPath { [section, row] }
}

extension ResultIndexPath: Comparable {
  public static func < (left: ResultIndexPath, right: ResultIndexPath) -> Bool {
    (left.section, left.row) < (right.section, right.row)
  }
}

extension ResultIndexPath: CustomStringConvertible {
  public var description: String { "(\(section), \(row))" }
}
