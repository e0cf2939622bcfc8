import Persist

/// Renames properties in the text of a predicate or an expression; the rest stays as its author wrote it.
///
/// It follows key paths through relationships, also those of a subquery's variable. Paths of other variables, whose
/// objects aren't known, stay.
struct FormatRenaming {
  /// A property that a path names.
  struct Reference {
    /// Its name from now on.
    let name: String
    /// The former name of the entity to which a relationship leads; nil for any other property.
    let destination: String?
  }

  /// An open parenthesis or bracket.
  private struct Group {
    enum Part { case collection, variable, condition, none }

    /// The next part of a subquery; none for other groups.
    var part = Part.none
    /// The entity of the objects in the list before a bracket, or in the collection of a subquery.
    var members: String?
  }

  private let entity: String
  private let reference: (_ name: String, _ entity: String) -> Reference
  private var variables: [String: String]
  private var rest: Substring
  private var result = ""
  private var groups: [Group] = []
  /// The entity of the objects that the preceding path returns; nil for values.
  private var found: String?

  /// - Parameters:
  ///   - text: the predicate or expression.
  ///   - entity: the entity of the evaluated objects.
  ///   - variables: the entities of the objects in variables.
  ///   - reference: returns the property that a name stands for in an entity.
  /// - Returns: the text with the new names.
  static func renamed(
    _ text: String, of entity: String, variables: [String: String] = [:],
    _ reference: @escaping (_ name: String, _ entity: String) -> Reference
  ) -> String {
    var pass = FormatRenaming(
      entity: entity, reference: reference, variables: variables, rest: text[...])
    pass.copyAll()
    return pass.result
  }

  private init(
    entity: String, reference: @escaping (String, String) -> Reference, variables: [String: String], rest: Substring
  ) {
    self.entity = entity
    self.reference = reference
    self.variables = variables
    self.rest = rest
  }

  private mutating func copyAll() {
    while let character = rest.first {
      switch character {
      case "'", "\"": copyQuotation()
      case "$": copyVariable()
      case "[": openBracket()
      case "(": open(Group())
      case ")", "]": closeGroup()
      case ",": copySeparator()
      // The letter of an argument's placeholder, and the digits and letters of a number, are no names.
      case "%": copy(2)
      case _ where character.isNumber: copy(rest.prefix { $0.isWordPart || $0 == "." }.count)
      case _ where character.isWordPart: copyWord()
      default: copy(1, keepsFound: character.isWhitespace)
      }
    }
  }

  private mutating func copy(_ count: Int, keepsFound: Bool = false) {
    result += rest.prefix(count)
    rest = rest.dropFirst(count)
    if !keepsFound { found = nil }
  }

  private mutating func copyQuotation() {
    let quote = rest.first
    copy(1)
    while let next = rest.first {
      copy(next == "\\" ? 2 : 1)
      if next == quote { return }
    }
  }

  private mutating func takeWord() -> String {
    let word = rest.prefix(while: \.isWordPart)
    rest = rest.dropFirst(word.count)
    return String(word)
  }

  private mutating func copyWord() {
    let word = takeWord()
    guard let next = rest.first(where: { !$0.isWhitespace }), next == "(" || next == ":" else {
      found = copyPath(from: entity, startingWith: word)
      return
    }
    // A function, or a word of the language before a parenthesis.
    result += word
    found = nil
    guard next == "(", word.uppercased() == "SUBQUERY" else { return }
    while rest.first != "(" { copy(1) }
    open(Group(part: .collection))
  }

  private mutating func copyVariable() {
    copy(1)
    let name = takeWord()
    result += name
    if let group = groups.last, group.part == .variable {
      variables[name] = group.members
      groups[groups.count - 1].part = .condition
    } else {
      found = copyPath(from: variables[name])
    }
  }

  /// Copies the keys of a path.
  ///
  /// - Returns: the entity of the objects at its end; nil for values.
  private mutating func copyPath(from start: String?, startingWith first: String? = nil) -> String? {
    var place = start
    if let first { place = copyKey(first, of: place) }
    while rest.first == ".", let next = rest.dropFirst().first, next == "@" || next.isWordPart {
      result += "."
      rest = rest.dropFirst()
      if next == "@" {
        // The keys after a collection operator are those of the members.
        result += "@"
        rest = rest.dropFirst()
        result += takeWord()
      } else {
        place = copyKey(takeWord(), of: place)
      }
    }
    return place
  }

  private mutating func copyKey(_ name: String, of entity: String?) -> String? {
    guard let entity, name.lowercased() != "self" else {
      result += name
      return entity
    }
    let property = reference(name, entity)
    result += property.name
    return property.destination
  }

  // MARK: Groups

  private mutating func open(_ group: Group) {
    copy(1)
    groups.append(group)
  }

  /// Opens the brackets of a list's member. Those of an operator's options, as in `==[cd]`, contain no names.
  private mutating func openBracket() {
    if let members = found { return open(Group(members: members)) }
    copy(rest.prefix { $0 != "]" }.count + 1)
  }

  private mutating func closeGroup() {
    copy(1)
    found = copyPath(from: groups.popLast()?.members)
  }

  private mutating func copySeparator() {
    if let group = groups.last, group.part == .collection {
      groups[groups.count - 1].members = found
      groups[groups.count - 1].part = .variable
    }
    copy(1)
  }
}

extension Character {
  fileprivate var isWordPart: Bool { isLetter || isNumber || self == "_" }
}
