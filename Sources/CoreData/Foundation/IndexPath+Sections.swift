public import Foundation

/// The indexes of tables and collections, which UIKit and AppKit declare on Apple's platforms.
extension IndexPath {
  /// The path of a row in a section.
  public init(row: Int, section: Int) { self = [section, row] }

  /// The path of an item in a section.
  public init(item: Int, section: Int) { self = [section, item] }

  /// The index of the section.
  public var section: Int {
    get { self[0] }
    set { self[0] = newValue }
  }

  /// The index of the row in its section.
  public var row: Int {
    get { self[1] }
    set { self[1] = newValue }
  }

  /// The index of the item in its section.
  public var item: Int {
    get { self[1] }
    set { self[1] = newValue }
  }
}
