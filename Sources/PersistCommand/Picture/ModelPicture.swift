/// How two model versions differ, as boxes and the links between them: what a picture shows, before it has places.
struct ModelPicture {
  enum Change: String, CaseIterable {
    case added, removed, changed, unchanged
  }

  /// A line of a box: an attribute, a relationship, an index or a rule.
  struct Line {
    let change: Change
    let name: String
    /// What stands at the end of the line: a type, or where a relationship leads.
    let type: String
    /// What changed, in words.
    let notes: [String]
  }

  /// An entity.
  struct Box {
    let title: String
    let change: Change
    /// What changed of the entity itself, in words.
    let notes: [String]
    let lines: [Line]
    /// How many properties aren't shown, for nothing happens to them.
    let hiddenCount: Int
  }

  /// What joins two boxes.
  struct Link {
    enum Kind { case relationship, inheritance }

    struct End {
      let box: Int
      /// The line that the link begins at; nil for the box's head.
      let line: Int?
      let isToMany: Bool
    }

    let kind: Kind
    let change: Change
    let source: End
    let target: End
    /// What the link is, in words.
    let title: String
  }

  let from: String
  let to: String
  let boxes: [Box]
  let links: [Link]

  func count(_ change: Change) -> Int { boxes.count { $0.change == change } }
}
