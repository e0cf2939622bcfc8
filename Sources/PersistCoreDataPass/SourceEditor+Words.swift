extension SourceEditor {
  private static let declarations: Set<String> = ["var", "func", "let", "subscript", "init", "class", "@"]

  mutating func word(at index: Int) {
    let token = code[index]
    switch token.text {
    case "dynamic":
      guard index == 0 || !code[index - 1].isPunctuation("."), let next = self.token(index + 1),
        Self.modifiers.contains(next.text) || Self.declarations.contains(next.text)
      else { return }
      replace(token.range.lowerBound..<withSpaces(token.range.upperBound), with: "")
    case "import": importedModule(at: index)
    case "init": originInitializer(at: index)
    case "func":
      method(at: index)
      property(at: index)
    case "var", "let": property(at: index)
    case "override": extensionOverride(at: index)
    case "open": openInExtension(at: index)
    case "managedValidators", "callManaged", "managedProperties":
      // An edited source has the declaration already.
      if index > 0, ["var", "func"].contains(code[index - 1].text), let type = blocks.last?.type {
        dispatches.add(token.text, of: type)
      }
    case "observe", "addObserver":
      keyValueObserver(at: index)
      notificationObserver(at: index)
    case "NSExpression", "NSComparisonPredicate":
      // Foundation has classes of these names, too, which can't be used.
      if importsCoreData, index == 0 || !code[index - 1].isPunctuation(".") {
        replace(token.range, with: "CoreData.\(token.text)")
        if self.token(index + 2)?.isWord("forBlock") == true { report(.expressionKind, at: token) }
      }
    case "as":
      genericCast(at: index)
      liveSetCast(at: index)
    case "entity", "context": objectCreation(at: index)
    case "Bundle": bundle(at: index)
    case "FileProtectionType": protectionOption(at: index)
    case "objectIDs":
      if self.token(index + 1)?.isPunctuation("(") == true,
        self.token(index + 2)?.isWord("forRelationshipNamed") == true
      {
        replace(token.range, with: "relatedObjectIDs")
      }
    case "withSubstitutionVariables":
      // Foundation's compound predicates don't have it off Apple's platforms.
      if index > 0, code[index - 1].isPunctuation(".") { replace(token.range, with: "withVariables") }
    case "urls":
      // Foundation's method returns NSURLs off Apple's platforms.
      if self.token(index + 1)?.isPunctuation("(") == true,
        self.token(index + 2)?.isWord("forResourcesWithExtension") == true
      {
        replace(token.range, with: "resourceURLs")
      }
    default: if let problem = UncoveredPart.names[token.text], isBare(index) { report(problem, at: token) }
    }
  }

  /// A cast between requests or controllers for different results, which always succeeds on Apple's platforms.
  private mutating func genericCast(at index: Int) {
    guard let mark = token(index + 1), ["!", "?"].contains(mark.text), let type = token(index + 2),
      ["NSFetchRequest", "NSFetchedResultsController"].contains(type.text), importsCoreData,
      let end = endOfGenericArguments(at: index + 3)
    else { return }
    replace(code[index].range.lowerBound..<mark.range.upperBound, with: "<~\(mark.text)")
    replace(code[end].range.upperBound..<code[end].range.upperBound, with: ".self")
  }

  /// A cast of a relationship's live set to one of Swift's, which reads a storage that live sets don't use.
  private mutating func liveSetCast(at index: Int) {
    guard let mark = token(index + 1), ["!", "?"].contains(mark.text), token(index + 2)?.isWord("Set") == true,
      index > 0, code[index - 1].isPunctuation(")")
    else { return }
    var depth = 0
    for place in stride(from: index - 1, through: 1, by: -1) {
      if code[place].isPunctuation(")") { depth += 1 }
      if code[place].isPunctuation("(") { depth -= 1 }
      guard depth == 0 else { continue }
      if code[place - 1].isWord("mutableSetValue") {
        replace(code[index - 1].range.upperBound..<code[index - 1].range.upperBound, with: ".copy()")
      }
      return
    }
  }

  /// The index of the bracket that closes generic arguments.
  private func endOfGenericArguments(at index: Int) -> Int? {
    var depth = 0
    var index = index
    while let token = token(index), ["<", ">"].contains(token.text) || depth > 0 {
      if token.text == "<" { depth += 1 }
      if token.text == ">" { depth -= 1 }
      if depth == 0 { return index }
      index += 1
    }
    return nil
  }

  /// An option's value, which isn't an object off Apple's platforms.
  private mutating func protectionOption(at index: Int) {
    guard let name = token(index + 2), token(index + 3)?.isWord("as") == true,
      token(index + 4)?.isWord("NSObject") == true
    else { return }
    replace(name.range.upperBound..<name.range.upperBound, with: ".rawValue")
  }

  /// Apple's modules for logging have a counterpart; others that exist on Apple's platforms only are reported.
  private mutating func importedModule(at index: Int) {
    let kinds: Set<String> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    let first = kinds.contains(token(index + 1)?.text ?? "") ? index + 2 : index + 1
    guard let module = token(first), module.kind == .identifier else { return }
    if ["os", "OSLog"].contains(module.text) {
      var last = first
      while token(last + 1)?.isPunctuation(".") == true, token(last + 2)?.kind == .identifier { last += 2 }
      replace(code[index + 1].range.lowerBound..<code[last].range.upperBound, with: "AppleLogging")
    } else if UncoveredPart.modules.contains(module.text), isBare(index) {
      report(.frameworks, at: code[index])
    }
  }

  /// An initializer of a type that isn't known, which only Objective-C's classes have: `T(entity:insertInto:)` and
  /// `type.init(context:)`.
  private mutating func objectCreation(at index: Int) {
    guard importsCoreData, index > 1, code[index - 1].isPunctuation("("), token(index + 1)?.isPunctuation(":") == true,
      code[index].isWord("context") || hasArgument("insertInto", after: index)
    else { return }
    let callee = code[index - 2]
    if callee.isWord("init") {
      // `super.init` and `self.init` belong to initializers.
      guard index > 3, code[index - 3].isPunctuation("."), code[index - 4].kind == .identifier,
        !["super", "self"].contains(code[index - 4].text)
      else { return }
      replace(callee.range, with: "managed")
    } else if code[index].isWord("entity"), callee.kind == .identifier, callee.text.first?.isUppercase == true {
      replace(callee.range.upperBound..<callee.range.upperBound, with: ".managed")
    }
  }

  /// The bundle of a class's module, whose resources are beside the program off Apple's platforms.
  private mutating func bundle(at index: Int) {
    guard importsCoreData, index == 0 || !code[index - 1].isPunctuation(".") else { return }
    if token(index + 1)?.isPunctuation("(") == true, token(index + 2)?.isWord("for") == true {
      replace(code[index].range.upperBound..<code[index].range.upperBound, with: ".resources")
    } else if token(index + 2)?.isWord("main") == true, let method = token(index + 4),
      ["url", "path"].contains(method.text), token(index + 6)?.isWord("forResource") == true
    {
      replace(method.range, with: method.text == "url" ? "resourceURL" : "resourcePath")
    }
  }

  /// Whether a call has an argument with a label behind another argument.
  private func hasArgument(_ label: String, after index: Int) -> Bool {
    var depth = 0
    var index = index
    while let token = token(index), depth >= 0 {
      switch token.text {
      case "(", "[", "{": depth += 1
      case ")", "]", "}": depth -= 1
      default:
        if depth == 0, token.isWord(label), self.token(index + 1)?.isPunctuation(":") == true { return true }
      }
      index += 1
    }
    return false
  }

  /// Whether an import isn't behind a condition.
  private func isBare(_ index: Int) -> Bool {
    var depth = 0
    for position in code[..<index].indices where code[position].isPunctuation("#") {
      switch token(position + 1)?.text {
      case "if": depth += 1
      case "endif": depth -= 1
      default: break
      }
    }
    return depth == 0
  }

  /// A class with an initializer of its own for entities must also create objects that are read.
  private mutating func originInitializer(at index: Int) {
    guard let block = blocks.last, block.isClass, !block.hasOriginInitializer, index > 0,
      token(index + 1)?.isPunctuation("(") == true
    else { return }
    let inside = code[(index + 2)..<max(index + 2, end(ofParentheses: index + 1) - 1)]
    if inside.first?.isWord("_") == true, inside.contains(where: { $0.isWord("Origin") }) {
      // An edited source has it already.
      blocks[blocks.count - 1].hasOriginInitializer = true
    }
    guard declaration(before: index).contains("override") else { return }
    guard inside.first?.isWord("entity") == true, inside.contains(where: { $0.isWord("insertInto") }) else { return }
    blocks[blocks.count - 1].hasOriginInitializer = true
    replace(
      block.start..<block.start,
      with: " public required convenience init(_ origin: NSManagedObject.Origin) { self.init(entity: "
        + "NSEntityDescription(carrying: origin), insertInto: nil) };")
  }

  private func declaration(before index: Int) -> Set<String> {
    var words: Set<String> = []
    var index = index - 1
    while let token = token(index), Self.modifiers.contains(token.text) {
      words.insert(token.text)
      index -= 1
    }
    return words
  }

  /// Remembers a method that is called by its selector.
  private mutating func method(at index: Int) {
    guard let type = blocks.last?.type, let method = ObjectiveCMethod(code, at: index, end: end(ofParentheses:)) else {
      return
    }
    let modifiers = declaration(before: index)
    guard !modifiers.contains("override"), !modifiers.contains("static"), !modifiers.contains("class") else { return }
    if method.isValidation { return dispatches.add(validation: method, at: code[index], of: type) }
    if let selector = objectiveCMethods[index] {
      dispatches.add(method, selector: selector ?? method.selector, of: type)
    } else if type.hasObjectiveCMembers, !modifiers.contains("private"), !modifiers.contains("fileprivate") {
      dispatches.add(method, selector: method.selector, of: type)
    }
  }

  /// Remembers a property that is accessible by its key.
  private mutating func property(at index: Int) {
    guard let type = blocks.last?.type, let property = ObjectiveCProperty(code, at: index) else { return }
    let modifiers = declaration(before: index)
    let isHidden = modifiers.contains("private") || modifiers.contains("fileprivate")
    guard modifiers.isDisjoint(with: ["override", "static", "class"]), type.isClass || !isHidden else { return }
    let isObjectiveC = objectiveCVariables.contains(index) || objectiveCMethods[index] != nil
    guard isObjectiveC || type.hasObjectiveCMembers && !isHidden else { return }
    dispatches.add(property, of: type)
  }

  /// Moves an override out of an extension, where Swift has none without Objective-C: the method gets another name, and
  /// the class an override that calls it.
  private mutating func extensionOverride(at index: Int) {
    guard let type = blocks.last?.type, !type.isClass, index == 0 || !code[index - 1].isPunctuation(".") else { return }
    let declaration = declaration(after: index)
    guard let override = ExtensionOverride(code, at: declaration, of: type.name, end: end(ofParentheses:)) else {
      return report(.extensionOverride, at: code[index])
    }
    let edits = [
      Edit(range: code[index].range.lowerBound..<withSpaces(code[index].range.upperBound), replacement: ""),
      Edit(range: code[declaration + 1].range, replacement: override.ownName),
    ]
    dispatches.add(override, at: code[index], of: type, edits: edits)
  }

  /// Members of extensions can't be open without Objective-C.
  private mutating func openInExtension(at index: Int) {
    guard let type = blocks.last?.type, !type.isClass, let next = token(index + 1),
      Self.modifiers.contains(next.text) || Self.declarations.contains(next.text)
    else { return }
    replace(code[index].range, with: "public")
  }
}
