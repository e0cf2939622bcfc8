/// Finds the columns of an existing table for claims with names predicted by the rules.
///
/// A predicted column is accepted if it exists with the right type. For the remaining claims, the candidates are
/// columns of the right type whose name contains another entity's number or, if several claims share a name, ends with
/// other digits, in the order of their digits. This finds the columns of a store whose names collided in a different
/// order than the rules predict, or whose entities had other numbers when the columns were named. If only one claim
/// uses a name, digits aren't allowed: `ZTITLE1` isn't the column of a `title` that was `title1` before.
struct ColumnMatch {
  let claims: [TableClaim]
  let predicted: [String]
  let table: StoreSchema.Table
  private let names: LayoutNames
  private var taken: Set<String>
  // These two are only computed if a name in the store differs from the prediction.
  /// Names used by several claims.
  private lazy var contested = Set(
    Dictionary(grouping: claims, by: \.baseName.foldedIdentifier).filter { $0.value.count > 1 }.keys)
  private lazy var columnsByStem = Dictionary(
    grouping: table.columns.map { (column: $0, name: NumberedName($0.name, names)) }, by: \.name.stem)
  private(set) var differences: [String] = []

  /// - Parameter taken: The folded names of columns that are already assigned.
  init(
    claims: [TableClaim], predicted: [String], table: StoreSchema.Table, names: LayoutNames, taken: Set<String>
  ) {
    self.claims = claims
    self.names = names
    self.predicted = predicted
    self.table = table
    self.taken = taken
  }

  /// The column of each claim; nil if the table has none.
  mutating func columns() -> [String?] {
    var found = [String?](repeating: nil, count: claims.count)
    for (index, claim) in claims.enumerated() {
      if let column = table.column(named: predicted[index]), claim.type.usable(in: column) != nil {
        assign(column, for: index, in: &found)
      }
    }
    for (index, claim) in claims.enumerated() where found[index] == nil {
      if let column = variants(of: claim).first(where: { claim.type.usable(in: $0) != nil }) {
        assign(column, for: index, in: &found)
      }
    }
    for (index, claim) in claims.enumerated() where found[index] == nil {
      if let column = table.column(named: predicted[index]), !taken.contains(column.name.foldedIdentifier) {
        assign(column, for: index, in: &found)
        differences.append(
          "Column '\(column.name)' of '\(table.name)' has type \(column.declaredType), "
            + "which is \(claim.type.rawValue) for \(claim.subject).")
      } else {
        differences.append(
          "Table '\(table.name)' has no column '\(predicted[index])' (\(claim.type.rawValue)) for \(claim.subject).")
      }
    }
    return found
  }

  private mutating func assign(_ column: StoreSchema.Column, for index: Int, in found: inout [String?]) {
    guard taken.insert(column.name.foldedIdentifier).inserted else { return }
    found[index] = column.name
  }

  private mutating func variants(of claim: TableClaim) -> [StoreSchema.Column] {
    let names = names
    let bases = ([claim.baseName] + claim.alternatives).map { NumberedName($0, names) }
    let allowsDigits = contested.contains(claim.baseName.foldedIdentifier)
    let columnsByStem = columnsByStem
    let near = bases.enumerated().flatMap { order, base in
      (columnsByStem[base.stem] ?? []).compactMap { column, name in
        name.distance(from: base, allowsDigits: allowsDigits).map { (column: column, rank: ($0, order)) }
      }
    }
    return near.filter { !taken.contains($0.column.name.foldedIdentifier) }
      .ordered { $0.rank < $1.rank }
      .map(\.column)
  }
}

/// A name such as `ZTITLE1`, `Z12_OWNER` or `Z_24USERS1`, split into the part before an entity number, the number, and
/// the rest.
struct NumberedName: Sendable, Equatable {
  /// `z` or `z_`; the whole name if there is no number.
  let head: String
  let number: Int?
  /// The part after the number, folded; empty if there is no number.
  let rest: String
  /// The text between a name that is taken and the digits that distinguish another one.
  private let separator: String

  init(_ name: String, _ names: LayoutNames = .coreData) {
    let folded = name.foldedIdentifier
    separator = names == .snakeCase ? "_" : ""
    // These names contain no entity numbers.
    guard names == .coreData else {
      (head, number, rest) = (folded, nil, "")
      return
    }
    let afterHead = folded.hasPrefix("z_") ? folded.dropFirst(2) : folded.dropFirst(folded.hasPrefix("z") ? 1 : 0)
    let digits = afterHead.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, let number = Int(digits) else {
      head = folded
      self.number = nil
      rest = ""
      return
    }
    head = String(folded.prefix(folded.count - afterHead.count))
    self.number = number
    rest = String(afterHead.dropFirst(digits.count))
  }

  /// The common part of similar names: the name without entity number and trailing digits.
  var stem: String {
    func withoutDigits(_ text: String) -> Substring {
      let digits = text.reversed().prefix { $0.isASCII && $0.isNumber }.count
      let start = text.dropLast(digits)
      return digits > 0 && start.hasSuffix(separator) ? start.dropLast(separator.count) : text.dropLast(0)
    }
    return number == nil ? String(withoutDigits(head)) : head + "#" + withoutDigits(rest)
  }

  /// The distance to another name that differs only in the entity number or in trailing digits; nil for an unrelated
  /// name. Digits weigh less than numbers.
  func distance(from base: NumberedName, allowsDigits: Bool = true) -> Int? {
    let far = 1_000_000
    let digits: Int?
    if number == nil, base.number == nil {
      digits = distance(of: head, behind: base.head)
    } else {
      guard number != nil, base.number != nil, head == base.head else { return nil }
      digits = distance(of: rest, behind: base.rest)
    }
    guard let digits, allowsDigits || digits == 0 else { return nil }
    return digits + (number == base.number ? 0 : far)
  }

  private func distance(of name: String, behind base: String) -> Int? {
    guard name.hasPrefix(base) else { return nil }
    if name.count == base.count { return 0 }
    guard name.dropFirst(base.count).hasPrefix(separator) else { return nil }
    let digits = name.dropFirst(base.count + separator.count)
    guard digits.count <= 5, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return Int(digits)
  }
}
