/// Draws the picture of a model or a difference as SVG.
package struct PictureDrawing {
  static let boxWidth = 236.0
  static let headHeight = 32.0
  static let lineHeight = 20.0
  static let noteHeight = 15.0
  private static let margin = 36.0
  private static let headerHeight = 92.0
  /// The minimum width of a picture, in which the legend fits.
  private static let leastWidth = 640.0

  private let picture: ModelPicture
  private let layout: LayeredLayout
  /// The boxes in the layout, in its order, and the boxes without links, which are placed below it.
  private let joined: [Int]
  private let alone: [Int]
  private var corners: [LayeredLayout.Point]
  private var size = LayeredLayout.Point(x: 0, y: 0)

  package init(_ picture: ModelPicture) {
    self.picture = picture
    let ends = Set(picture.links.filter { $0.source.box != $0.target.box }.flatMap { [$0.source.box, $0.target.box] })
    joined = picture.boxes.indices.filter(ends.contains)
    alone = picture.boxes.indices.filter { !ends.contains($0) }
    let places = Dictionary(uniqueKeysWithValues: joined.enumerated().map { ($1, $0) })
    layout = LayeredLayout(
      heights: joined.map { Self.height(of: picture.boxes[$0]) }, boxWidth: Self.boxWidth,
      edges: picture.links.compactMap { link in
        guard let source = places[link.source.box], let target = places[link.target.box], source != target else {
          return nil
        }
        return LayeredLayout.Edge(
          source: source, target: target,
          sourceOffset: Self.offset(of: link.source, in: picture.boxes[link.source.box]),
          targetOffset: Self.offset(of: link.target, in: picture.boxes[link.target.box]))
      })
    corners = Array(repeating: LayeredLayout.Point(x: 0, y: 0), count: picture.boxes.count)
    for (place, box) in joined.enumerated() { corners[box] = layout.corner(of: place) }
    placeAlone()
  }

  /// Places the boxes without links in columns below the others, changed ones first.
  private mutating func placeAlone() {
    let step = Self.boxWidth + 28
    let boxes = alone.filter { picture.boxes[$0].change != .unchanged }
      + alone.filter { picture.boxes[$0].change == .unchanged }
    let area = boxes.reduce(0) { $0 + Self.height(of: picture.boxes[$1]) + LayeredLayout.rowGap } * step
    let wanted = max(layout.size.x, min((area * 1.5).squareRoot(), Double(boxes.count) * step))
    let count = max(Int((wanted + 28) / step), 1)
    let top = joined.isEmpty ? 0 : layout.size.y + 44
    var ends = Array(repeating: top, count: count)
    for box in boxes {
      let column = ends.indices.min { ends[$0] < ends[$1] } ?? 0
      corners[box] = LayeredLayout.Point(x: Double(column) * step, y: ends[column])
      ends[column] += Self.height(of: picture.boxes[box]) + LayeredLayout.rowGap
    }
    let width = boxes.map { corners[$0].x + Self.boxWidth }.max() ?? 0
    let bottom = boxes.isEmpty ? 0 : (ends.max() ?? 0) - LayeredLayout.rowGap
    size = LayeredLayout.Point(x: max(layout.size.x, width), y: max(layout.size.y, bottom))
  }

  // MARK: Measures

  static func height(of box: ModelPicture.Box) -> Double {
    var height = headHeight + Double(box.notes.count) * noteHeight
    height += box.lines.reduce(0) { $0 + lineHeight + Double($1.notes.count) * noteHeight }
    let hasMore = box.hiddenCount > 0 && box.change != .unchanged
    return height + (hasMore ? lineHeight : 0) + (box.lines.isEmpty && !hasMore && box.notes.isEmpty ? 0 : 8)
  }

  static func offset(of end: ModelPicture.Link.End, in box: ModelPicture.Box) -> Double {
    guard let line = end.line else { return headHeight / 2 }
    let before = box.lines[..<line].reduce(0) { $0 + lineHeight + Double($1.notes.count) * noteHeight }
    return headHeight + Double(box.notes.count) * noteHeight + 4 + before + lineHeight / 2
  }

  // MARK: Drawing

  /// The picture as a document of its own.
  package var svg: String { svg(withStyle: true) }

  /// The picture as SVG.
  ///
  /// - Parameter withStyle: Whether it contains its style sheet; without, it is for a page that has the sheet.
  package func svg(withStyle: Bool) -> String {
    let width = max(size.x, Self.leastWidth) + 2 * Self.margin
    let height = size.y + Self.headerHeight + 2 * Self.margin
    var text = SVGText()
    text.element(
      "svg",
      [
        "xmlns": "http://www.w3.org/2000/svg", "width": SVGText.number(width), "height": SVGText.number(height),
        "viewBox": "0 0 \(SVGText.number(width)) \(SVGText.number(height))", "role": "img",
      ]
    ) { text in
      text.element("title", [:], text: picture.title)
      text.element("desc", [:], text: picture.summary)
      if withStyle { text.style(PictureStyle.sheet) }
      text.element("rect", ["class": "sheet", "width": "100%", "height": "100%"])
      drawHeader(&text)
      text.element(
        "g",
        ["transform": "translate(\(SVGText.number(Self.margin)) \(SVGText.number(Self.margin + Self.headerHeight)))"]
      ) { text in
        // Changed links are drawn on top of unchanged ones.
        let order: [ModelPicture.Change] = [.unchanged, .changed, .removed, .added]
        var number = 0
        let routes = picture.links.map { link -> [LayeredLayout.Point]? in
          guard link.source.box != link.target.box else { return nil }
          defer { number += 1 }
          return layout.route(of: number)
        }
        for change in order {
          for (link, route) in zip(picture.links, routes) where link.change == change {
            draw(link, along: route, in: &text)
          }
        }
        for index in picture.boxes.indices { PictureBox(picture.boxes[index], at: corners[index]).draw(&text) }
      }
    }
    return text.string
  }

  private func drawHeader(_ text: inout SVGText) {
    let x = SVGText.number(Self.margin)
    text.element("text", ["class": "title", "x": x, "y": "50"], text: picture.title)
    text.element("text", ["class": "muted", "x": x, "y": "72"], text: picture.summary)
    var left = Self.margin
    for change in picture.isDifference ? ModelPicture.Change.allCases : [] {
      text.element(
        "rect",
        [
          "class": "swatch \(change.rawValue)", "x": SVGText.number(left), "y": "88", "width": "18", "height": "14",
          "rx": "3",
        ])
      text.element(
        "text", ["class": "mark small ink \(change.rawValue)", "x": SVGText.number(left + 9), "y": "99"],
        text: PictureStyle.sign(change))
      text.element(
        "text", ["class": "small", "x": SVGText.number(left + 25), "y": "99"], text: change.rawValue)
      left += 96
    }
    drawKey(&text, x: picture.isDifference ? left + 16 : left)
  }

  /// Draws the legend for the symbols at the ends of links.
  private func drawKey(_ text: inout SVGText, x: Double) {
    let entries: [(String, LinkDrawing)] = [
      ("to many", LinkDrawing.sample(from: x, isToMany: true)),
      ("to one", LinkDrawing.sample(from: x + 100, isToMany: false)),
      ("parent", LinkDrawing.inheritanceSample(from: x + 196)),
    ]
    for (place, entry) in entries.enumerated() {
      entry.1.draw(&text)
      text.element(
        "text", ["class": "small", "x": SVGText.number(x + [44, 144, 240][place]), "y": "99"], text: entry.0)
    }
  }

  private func draw(_ link: ModelPicture.Link, along route: [LayeredLayout.Point]?, in text: inout SVGText) {
    let route = route ?? loop(link)
    LinkDrawing(link, along: route, isLoop: link.source.box == link.target.box).draw(&text)
  }

  /// The points from the right side of a box back to itself.
  private func loop(_ link: ModelPicture.Link) -> [LayeredLayout.Point] {
    let corner = corners[link.source.box]
    let x = corner.x + Self.boxWidth
    let start = corner.y + Self.offset(of: link.source, in: picture.boxes[link.source.box])
    var end = corner.y + Self.offset(of: link.target, in: picture.boxes[link.target.box])
    if abs(end - start) < 4 { end = start + 10 }
    return [.init(x: x, y: start - (end > start ? 5 : 0)), .init(x: x, y: end)]
  }
}
