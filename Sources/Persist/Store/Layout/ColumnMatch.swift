/// Finds the columns of a real table for claims whose names the rules predict.
///
/// A prediction that is there with the right type is taken. For what is left, the columns are tried that have the
/// name with another entity's number in it or, where several claims want one name, with other digits behind it; if they
/// are of the right type, in the order of their digits. This finds the columns of a store whose names collided in
/// another order than the rules say, or whose entities had other numbers when the columns were named. A name that only
/// one claim wants is taken without digits alone: `ZTITLE1` isn't the column of a `title` that was `title1` before.
struct ColumnMatch {
  let claims: [TableClaim]
  let predicted: [String]
  let table: StoreSchema.Table
  private var taken: Set<String>
  // Only a store in which something has another name than predicted asks for these two.
  /// Names that several claims want.
  private lazy var contested = Set(
    Dictionary(grouping: claims, by: \.baseName.foldedIdentifier).filter { $0.value.count > 1 }.keys)
  private lazy var columnsByStem = Dictionary(
    grouping: table.columns.map { (column: $0, name: NumberedName($0.name)) }, by: \.name.stem)
  private(set) var differences: [String] = []

  /// - Parameter taken: folded names of columns that have been found already.
  init(claims: [TableClaim], predicted: [String], table: StoreSchema.Table, taken: Set<String>) {
    self.claims = claims
    self.predicted = predicted
    self.table = table
    self.taken = taken
  }

  /// A column for each claim, nil where the table has none.
  mutating func columns() -> [String?] {
    var found = [String?](repeating: nil, count: claims.count)
    for (index, claim) in claims.enumerated() {
      if let column = table.column(named: predicted[index]), claim.type.isDeclared(by: column) {
        take(column, for: index, in: &found)
      }
    }
    for (index, claim) in claims.enumerated() where found[index] == nil {
      if let column = variants(of: claim).first(where: { claim.type.isDeclared(by: $0) }) {
        take(column, for: index, in: &found)
      }
    }
    for (index, claim) in claims.enumerated() where found[index] == nil {
      if let column = table.column(named: predicted[index]), !taken.contains(column.name.foldedIdentifier) {
        take(column, for: index, in: &found)
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

  private mutating func take(_ column: StoreSchema.Column, for index: Int, in found: inout [String?]) {
    guard taken.insert(column.name.foldedIdentifier).inserted else { return }
    found[index] = column.name
  }

  private mutating func variants(of claim: TableClaim) -> [StoreSchema.Column] {
    let bases = ([claim.baseName] + claim.alternatives).map { NumberedName($0) }
    let allowsDigits = contested.contains(claim.baseName.foldedIdentifier)
    let columnsByStem = columnsByStem
    let near = bases.enumerated().flatMap { order, base in
      (columnsByStem[base.stem] ?? []).compactMap { column, name in
        name.distance(from: base, allowsDigits: allowsDigits).map { (column: column, rank: ($0, order)) }
      }
    }
    return near.filter { !taken.contains($0.column.name.foldedIdentifier) }
      .sorted { $0.rank < $1.rank }
      .map(\.column)
  }
}

/// A name such as `ZTITLE1`, `Z12_OWNER` or `Z_24USERS1`: what stands before an entity number, the number, the rest.
struct NumberedName: Sendable, Hashable {
  /// `z` or `z_`; the whole name where no number follows.
  let head: String
  let number: Int?
  /// What follows the number, folded; empty where there is no number.
  let rest: String

  init(_ name: String) {
    let folded = name.foldedIdentifier
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

  /// What all names have in common that are near each other: the name without entity number and digits at the end.
  var stem: String {
    func withoutDigits(_ text: String) -> Substring {
      let digits = text.reversed().prefix { $0.isASCII && $0.isNumber }.count
      return text.dropLast(digits)
    }
    return number == nil ? String(withoutDigits(head)) : head + "#" + withoutDigits(rest)
  }

  /// How far this name is from another that differs in the entity number or in digits at the end only; nil where it
  /// is another name altogether. Digits weigh less than numbers.
  func distance(from base: NumberedName, allowsDigits: Bool = true) -> Int? {
    let far = 1_000_000
    let digits: Int?
    if number == nil, base.number == nil {
      digits = Self.digits(of: head, behind: base.head)
    } else {
      guard number != nil, base.number != nil, head == base.head else { return nil }
      digits = Self.digits(of: rest, behind: base.rest)
    }
    guard let digits, allowsDigits || digits == 0 else { return nil }
    return digits + (number == base.number ? 0 : far)
  }

  private static func digits(of name: String, behind base: String) -> Int? {
    guard name.hasPrefix(base) else { return nil }
    let digits = name.dropFirst(base.count)
    if digits.isEmpty { return 0 }
    guard digits.count <= 5, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return Int(digits)
  }
}

extension TableMap.ColumnType {
  /// Whether a column is declared with this type; a length such as that of `VARCHAR(255)` doesn't count.
  func isDeclared(by column: StoreSchema.Column) -> Bool {
    let declared = column.declaredType.prefix { $0 != "(" }.uppercased()
    return declared.trimmingPrefix(" ") == rawValue || declared.hasPrefix(rawValue + " ")
  }
}
