/// A model, or the differences of two versions of one, as boxes and links that have no positions yet.
package struct ModelPicture {
  enum Change: String, CaseIterable {
    case added, removed, changed, unchanged
  }

  /// A line of a box: an attribute, a relationship, an index or a rule.
  struct Line {
    let change: Change
    let name: String
    /// The text at the end of the line: a type, or a relationship's destination.
    let type: String
    /// Descriptions of the changes.
    let notes: [String]
  }

  /// An entity.
  struct Box {
    let title: String
    let change: Change
    /// Descriptions of the changes of the entity itself.
    let notes: [String]
    let lines: [Line]
    /// The number of unchanged properties that aren't shown.
    let hiddenCount: Int
  }

  /// A connection of two boxes.
  struct Link {
    enum Kind { case relationship, inheritance }

    struct End {
      let box: Int
      /// The line at which the link begins; nil for the box's head.
      let line: Int?
      let isToMany: Bool
    }

    let kind: Kind
    let change: Change
    let source: End
    let target: End
    /// A description of the link.
    let title: String
  }

  package let title: String
  /// The number of entities, in words.
  let summary: String
  /// Whether the colors of changes have to be explained.
  let isDifference: Bool
  let boxes: [Box]
  let links: [Link]
}
