/// SQL that grows by parts of its own kind: the text of an engine, or a statement that engines share.
package protocol ComposedSQL: ExpressibleByStringInterpolation where StringLiteralType == StaticString {
  static func += (left: inout Self, right: Self)
}

extension ComposedSQL {
  @inline(never)
  package static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum += right
    return sum
  }
}

extension Sequence where Element: ComposedSQL {
  @inline(never)
  package func joined(separator: Element) -> Element {
    var result: Element = ""
    var isFirst = true
    for part in self {
      if !isFirst { result += separator }
      result += part
      isFirst = false
    }
    return result
  }
}
