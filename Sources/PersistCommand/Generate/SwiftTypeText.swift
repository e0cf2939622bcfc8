/// Swift types as named in model files.
enum SwiftTypeText {
  /// Whether a text could be a type: it has only names, generic arguments and brackets, and nothing that would end the
  /// declaration.
  static func isType(_ text: String) -> Bool {
    guard let first = text.first, first.isLetter || first == "[" || first == "_" || first == "`" else { return false }
    let rest = text.allSatisfy { $0.isLetter || $0.isNumber || "_.<>[]:, `".contains($0) }
    return rest && text.filter { $0 == "[" }.count == text.filter { $0 == "]" }.count
      && text.filter { $0 == "<" }.count == text.filter { $0 == ">" }.count
  }

  /// The Swift type for a Foundation class or a collection of plain values; nil for other classes.
  static func ofFoundationClass(_ name: String) -> String? {
    if let type = foundation[name] { return type }
    guard name.hasPrefix("["), isType(name) else { return nil }
    let names = name.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
    return names.allSatisfy { plain.contains(String($0)) } ? name : nil
  }

  private static let foundation = [
    "NSArray": "[Any]", "NSMutableArray": "[Any]", "NSDictionary": "[String: Any]",
    "NSMutableDictionary": "[String: Any]", "NSString": "String", "String": "String", "NSData": "Data", "Data": "Data",
    "NSDate": "Date", "Date": "Date", "NSURL": "URL", "URL": "URL", "NSUUID": "UUID", "UUID": "UUID",
  ]

  private static let plain: Set<String> = [
    "Any", "Bool", "Data", "Date", "Double", "Float", "Int", "Int16", "Int32", "Int64", "String", "URL", "UUID",
  ]
}
