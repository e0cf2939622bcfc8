import Foundation

extension ModelCheck {
  /// - Parameter owner: the entity or composite type that has the attribute.
  mutating func check(_ attribute: AttributeDescription, of owner: String) {
    let place = PersistenceError.Place.property(owner, attribute.name)
    if [.undefined, .objectID].contains(attribute.type) && !attribute.isTransient {
      report(
        place, "The attribute has no type that a store can hold.", fix: "Give it a type, or make it transient.",
        as: .flaw)
    }
    if let problem = attribute.problem(with: attribute.defaultValue) {
      report(place, "The default \(problem)", fix: "Correct or remove the default.", as: .flaw)
    }
    if attribute.type == .composite {
      if let name = attribute.compositeName {
        if !composites.keys.contains(name) {
          report(
            place, "The attribute is a '\(name)', which isn't a composite type of the model.",
            fix: "Add the composite type '\(name)' or choose another.", as: .flaw)
        }
      } else {
        report(
          place, "The composite attribute has no composite type.", fix: "Choose one of the model's.", as: .flaw)
      }
    }
    if attribute.userInfo[FullTextSearch.userInfoKey] != nil { checkFullText(attribute, of: owner) }
    if attribute.isServerTimestamp, attribute.type != .date || attribute.isTransient || !isEntity(owner) {
      report(
        place,
        "Only stored dates of entities can be timestamps of a server: no other types, no transient attributes, and no "
          + "elements of composite types.",
        fix: "Remove '\(AttributeDescription.serverTimestampKey)' from the user info.", as: .flaw)
    }
    check(attribute.validation, at: place)
  }

  private mutating func checkFullText(_ attribute: AttributeDescription, of owner: String) {
    let place = PersistenceError.Place.property(owner, attribute.name)
    let key = FullTextSearch.userInfoKey
    if attribute.fullTextSearch == nil {
      report(
        place, "'\(attribute.userInfo[key] ?? "")' in the user info under '\(key)' isn't a kind of full-text search.",
        fix: "Write words, stems or trigrams; with lengths, as in 'words prefix 2 3'.", as: .flaw)
    } else if !attribute.isFullTextSearched || !isEntity(owner) {
      report(
        place,
        "Only strings in an entity's own rows can be marked for full-text search: no other types, no "
          + "transient or derived attributes, no external storage, and no elements of composite types.",
        fix: "Set fullTextSearch to nil, or remove '\(key)' from the user info.", as: .flaw)
    }
  }

  private mutating func check(_ validation: AttributeValidation, at place: PersistenceError.Place) {
    if let minimum = validation.minimum, let maximum = validation.maximum, minimum.isGreater(than: maximum) {
      report(place, "The minimum value is above the maximum.", fix: "Swap or correct them.", as: .flaw)
    }
    if let least = validation.minimumLength, let most = validation.maximumLength, least > most {
      report(
        place, "The minimum length, \(least), is above the maximum, \(most).", fix: "Swap or correct them.", as: .flaw)
    }
    if let pattern = validation.pattern, (try? NSRegularExpression(pattern: pattern)) == nil {
      report(
        place, "The pattern \(ValueWords.text(pattern)) isn't a regular expression.", fix: "Correct or remove it.",
        as: .flaw)
    }
  }

  mutating func checkComposites() {
    var seen: Set<String> = []
    for composite in description.composites {
      let place = PersistenceError.Place.entity(composite.name)
      guard seen.insert(composite.name).inserted else {
        report(place, "Two composite types are named '\(composite.name)'.", fix: "Rename one of them.")
        continue
      }
      if isEntity(composite.name) {
        report(
          place, "A composite type and an entity are named '\(composite.name)'.", fix: "Rename one of them.", as: .flaw)
      }
      checkName(composite.name, of: "A composite type", at: place)
      if composite.elements.isEmpty {
        report(place, "The composite type has no elements.", fix: "Add elements or remove it.", as: .flaw)
      }
      var names: Set<String> = []
      for element in composite.elements {
        let place = PersistenceError.Place.property(composite.name, element.name)
        checkName(element.name, of: "An element", at: place)
        if !names.insert(element.name).inserted {
          report(place, "Two elements are named '\(element.name)'.", fix: "Rename one of them.")
        }
        check(element, of: composite.name)
      }
    }
    checkCompositeNesting()
  }

  /// Counts the attributes that each composite type flattens to, innermost types first, so that the work is bounded
  /// however deep they nest.
  static func flattenedCounts(of composites: [String: CompositeDescription]) -> [String: Int] {
    var counts: [String: Int] = Dictionary()
    var waiting = composites
    for _ in 0..<Limit.compositeDepth {
      for (name, composite) in waiting {
        let inner = composite.elements.map { element -> Int? in
          guard element.type == .composite, let type = element.compositeName, composites.keys.contains(type) else {
            return 1
          }
          return counts[type]
        }
        guard !inner.contains(nil) else { continue }
        counts[name] = inner.reduce(0) { min($0 + ($1 ?? 0), Limit.compositeElements + 1) }
      }
      waiting = waiting.filter { counts[$0.key] == nil }
    }
    return counts
  }

  private mutating func checkCompositeNesting() {
    for name in composites.keys.sorted() {
      let place = PersistenceError.Place.entity(name)
      guard let count = flattenedCounts[name] else {
        report(
          place, "The composite type '\(name)' contains itself, or is nested too deeply.",
          fix: "Remove the element that leads back to '\(name)'.")
        continue
      }
      if count > Limit.compositeElements {
        report(
          place, "The composite type '\(name)' expands to more than \(Limit.compositeElements) elements.",
          fix: "Divide it.")
      }
    }
  }
}

extension AttributeDescription {
  /// Returns the reason why a value doesn't fit this attribute, as the rest of a sentence; nil if it fits.
  func problem(with value: StoredValue) -> String? {
    switch (type, value) {
    case (.int16, .integer(let number)):
      Int16(exactly: number) == nil ? "\(number) is out of the range of a 16-bit integer." : nil
    case (.int32, .integer(let number)):
      Int32(exactly: number) == nil ? "\(number) is out of the range of a 32-bit integer." : nil
    case (.float, .double(let number)):
      number.isFinite && !Float(number).isFinite ? "\(number) is out of the range of a float." : nil
    default: type.holds(value) ? nil : "\(value) isn't a value of type \(type.rawValue)."
    }
  }
}

extension StoredValue {
  /// Whether a limit is greater than another of the same kind; false for values without an order.
  fileprivate func isGreater(than other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left > right
    case (.double(let left), .double(let right)): left > right
    case (.decimal(let left), .decimal(let right)): left > right
    case (.date(let left), .date(let right)): left > right
    default: false
    }
  }
}
