/// A link with symbols at its ends: a crow's foot for to-many, a bar for to-one, a hollow arrow to a parent.
struct LinkDrawing {
  typealias Point = LayeredLayout.Point

  private let kind: ModelPicture.Link.Kind
  private let change: ModelPicture.Change
  private let title: String
  private let sourceIsToMany: Bool
  private let targetIsToMany: Bool
  private let points: [Point]

  /// - Parameters:
  ///   - link: the link to draw.
  ///   - points: the corners of its line, from one end to the other.
  ///   - isLoop: whether the link leads back to the same side of its own box.
  init(_ link: ModelPicture.Link, along points: [Point], isLoop: Bool) {
    kind = link.kind
    change = link.change
    title = link.title
    sourceIsToMany = link.source.isToMany
    targetIsToMany = link.target.isToMany
    self.points = points
  }

  private init(kind: ModelPicture.Link.Kind, isToMany: Bool, points: [Point]) {
    self.kind = kind
    change = .unchanged
    title = ""
    sourceIsToMany = false
    targetIsToMany = isToMany
    self.points = points
  }

  static func sample(from x: Double, isToMany: Bool) -> LinkDrawing {
    LinkDrawing(kind: .relationship, isToMany: isToMany, points: [Point(x: x, y: 95), Point(x: x + 36, y: 95)])
  }

  static func inheritanceSample(from x: Double) -> LinkDrawing {
    LinkDrawing(kind: .inheritance, isToMany: false, points: [Point(x: x, y: 95), Point(x: x + 36, y: 95)])
  }

  func draw(_ text: inout SVGText) {
    guard let first = points.first, let last = points.last else { return }
    // The sides on which the line leaves its ends.
    let isLeftToRight = points.count > 1 && points[1].x > first.x
    let endComesFromLeft = points.count > 1 && points[points.count - 2].x < last.x
    let startSide = points.count == 2 && first.x == last.x ? 1.0 : isLeftToRight ? 1.0 : -1.0
    let endSide = points.count == 2 && first.x == last.x ? 1.0 : endComesFromLeft ? -1.0 : 1.0
    text.element("g") { text in
      if !title.isEmpty { text.element("title", [:], text: title) }
      text.element("path", ["class": "link \(change.rawValue)", "d": path(startSide, endSide)])
      if kind == .inheritance {
        text.element("path", ["class": "arrow \(change.rawValue)", "d": arrow(last, endSide)])
      } else {
        // The symbol at an end shows how many objects that end has.
        for (point, side, isToMany) in [(first, startSide, sourceIsToMany), (last, endSide, targetIsToMany)]
        where !title.isEmpty || point.x == last.x {
          let shape = isToMany ? foot(point, side) : bar(point, side)
          text.element("path", ["class": "link \(change.rawValue)", "d": shape])
        }
      }
    }
  }

  /// Curves through the gaps between columns, and straight lines past boxes.
  private func path(_ startSide: Double, _ endSide: Double) -> String {
    var path = "M\(text(points[0]))"
    if points.count == 2, points[0].x == points[1].x {
      let reach = points[0].x + 26 + min(abs(points[1].y - points[0].y) * 0.12, 34)
      return path + " C\(text(Point(x: reach, y: points[0].y))) \(text(Point(x: reach, y: points[1].y)))"
        + " \(text(points[1]))"
    }
    for (from, to) in zip(points, points.dropFirst()) {
      if abs(from.y - to.y) < 0.5 {
        path += " L\(text(to))"
      } else {
        let middle = (from.x + to.x) / 2
        path += " C\(text(Point(x: middle, y: from.y))) \(text(Point(x: middle, y: to.y))) \(text(to))"
      }
    }
    return path
  }

  private func foot(_ point: Point, _ side: Double) -> String {
    let tip = Point(x: point.x + side * 11, y: point.y)
    return "M\(text(Point(x: point.x, y: point.y - 5))) L\(text(tip)) L\(text(Point(x: point.x, y: point.y + 5)))"
  }

  private func bar(_ point: Point, _ side: Double) -> String {
    let x = point.x + side * 7
    return "M\(text(Point(x: x, y: point.y - 4))) L\(text(Point(x: x, y: point.y + 4)))"
  }

  private func arrow(_ point: Point, _ side: Double) -> String {
    let x = point.x + side * 11
    return "M\(text(point)) L\(text(Point(x: x, y: point.y - 6))) L\(text(Point(x: x, y: point.y + 6))) Z"
  }

  private func text(_ point: Point) -> String { "\(SVGText.number(point.x)) \(SVGText.number(point.y))" }
}
