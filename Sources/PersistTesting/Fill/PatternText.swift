import Foundation
import Persist
import PersistTools

/// Generates strings that match a regular expression. It supports the features common in models: classes, groups,
/// alternatives, repetition; but not look-around and back references.
struct PatternText {
  private indirect enum Node {
    case characters([Character])
    case sequence([Node])
    case alternatives([Node])
    case repeated(Node, from: Int, through: Int)
  }

  private let root: Node
  private let whole: NSRegularExpression

  /// - Returns: nil for an unsupported expression.
  init?(_ pattern: String) {
    var parser = Parser(pattern: Array(pattern))
    guard let root = parser.alternatives(depth: 0), parser.isAtEnd,
      let whole = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
    else { return nil }
    self.root = root
    self.whole = whole
  }

  /// Returns a random string.
  func text(using generator: inout SeededGenerator) -> String {
    var text = ""
    write(root, to: &text) { count, _ in generator.below(count) }
    return text
  }

  /// Returns the string with a number: different numbers produce different strings as long as the pattern has enough of
  /// them.
  func text(numbered number: Int64) -> String {
    var text = ""
    var rest = UInt64(max(0, number))
    // Repetitions have their maximum length, so that the number determines the string's characters.
    write(root, to: &text) { count, isRepetition in
      if isRepetition { return count - 1 }
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: UInt64(count))
      rest = quotient
      return Int(remainder)
    }
    return text
  }

  func matches(_ text: String) -> Bool {
    whole.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }

  private func write(_ node: Node, to text: inout String, choosing: (_ count: Int, _ isRepetition: Bool) -> Int) {
    switch node {
    case .characters(let set): text.append(set[choosing(set.count, false)])
    case .sequence(let nodes): for node in nodes { write(node, to: &text, choosing: choosing) }
    case .alternatives(let nodes): write(nodes[choosing(nodes.count, false)], to: &text, choosing: choosing)
    case .repeated(let node, let least, let most):
      for _ in 0..<(least + choosing(most - least + 1, true)) { write(node, to: &text, choosing: choosing) }
    }
  }

  private struct Parser {
    let pattern: [Character]
    var position = 0

    var isAtEnd: Bool { position == pattern.count }
    private var next: Character? { position < pattern.count ? pattern[position] : nil }

    private mutating func take(_ character: Character) -> Bool {
      guard next == character else { return false }
      position += 1
      return true
    }

    mutating func alternatives(depth: Int) -> Node? {
      guard depth < 32 else { return nil }
      var branches: [Node] = []
      repeat {
        guard let branch = sequence(depth: depth) else { return nil }
        branches.append(branch)
      } while take("|")
      return branches.count == 1 ? branches[0] : .alternatives(branches)
    }

    private mutating func sequence(depth: Int) -> Node? {
      var nodes: [Node] = []
      while let character = next, character != "|", character != ")" {
        if character == "^" || character == "$" {
          position += 1
          continue
        }
        guard let node = atom(depth: depth), let repeated = repetition(of: node) else { return nil }
        nodes.append(repeated)
      }
      return .sequence(nodes)
    }

    private mutating func atom(depth: Int) -> Node? {
      guard let character = next else { return nil }
      position += 1
      switch character {
      case "(":
        if take("?") {
          guard take(":") else { return nil }
        }
        guard let inner = alternatives(depth: depth + 1), take(")") else { return nil }
        return inner
      case "[": return bracketed()
      case ".": return .characters(Self.letters)
      case "\\": return escaped().map(Node.characters)
      case "*", "+", "?", "{": return nil
      default: return .characters([character])
      }
    }

    private mutating func repetition(of node: Node) -> Node? {
      guard let character = next else { return node }
      var bounds: (Int, Int)?
      switch character {
      case "?": bounds = (0, 1)
      case "*": bounds = (0, 8)
      case "+": bounds = (1, 8)
      case "{":
        guard let close = pattern[position...].firstIndex(of: "}") else { return nil }
        let parts = String(pattern[(position + 1)..<close]).split(separator: ",", omittingEmptySubsequences: false)
        guard let least = parts.first.flatMap({ Int($0) }), least <= 1000, parts.count <= 2 else { return nil }
        let most = parts.count == 1 ? least : parts[1].isEmpty ? least + 8 : Int(parts[1]) ?? -1
        guard most >= least else { return nil }
        bounds = (least, min(most, least + 64))
        position = close
      default: return node
      }
      position += 1
      // A lazy or possessive suffix affects how to match, but not what.
      if next == "?" || next == "+" { position += 1 }
      return bounds.map { .repeated(node, from: $0.0, through: $0.1) }
    }

    private mutating func bracketed() -> Node? {
      let isNegated = take("^")
      var set: [Character] = []
      var isFirst = true
      while let character = next, isFirst || character != "]" {
        isFirst = false
        position += 1
        var members = [character]
        if character == "\\" {
          guard let escape = escaped() else { return nil }
          members = escape
        } else if character == "[" {
          return nil
        }
        if members.count == 1, next == "-", position + 1 < pattern.count, pattern[position + 1] != "]" {
          position += 1
          guard let last = next, last != "\\", let low = members[0].unicodeScalars.first?.value,
            let high = last.unicodeScalars.first?.value, low <= high
          else { return nil }
          position += 1
          // A few hundred characters of a range are sufficient.
          members = (low...min(high, low + 255)).compactMap { UnicodeScalar($0).map { Character($0) } }
        }
        set += members
      }
      guard take("]") else { return nil }
      if isNegated { set = Self.letters.filter { !set.contains($0) } }
      return set.isEmpty ? nil : .characters(set)
    }

    private mutating func escaped() -> [Character]? {
      guard let character = next else { return nil }
      position += 1
      switch character {
      case "d": return Self.digits
      case "w": return Self.letters
      case "s": return [" "]
      case "n": return ["\n"]
      case "t": return ["\t"]
      default: return character.isLetter || character.isNumber ? nil : [character]
      }
    }

    private static let digits = Array("0123456789")
    private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
  }
}
