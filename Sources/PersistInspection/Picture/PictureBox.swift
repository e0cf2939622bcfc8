/// Draws an entity as a box: its head, and a line for each shown property.
struct PictureBox {
  private let box: ModelPicture.Box
  private let corner: LayeredLayout.Point
  private let width = PictureDrawing.boxWidth
  private let inset = 12.0

  init(_ box: ModelPicture.Box, at corner: LayeredLayout.Point) {
    self.box = box
    self.corner = corner
  }

  func draw(_ text: inout SVGText) {
    let place = "translate(\(SVGText.number(corner.x)) \(SVGText.number(corner.y)))"
    text.element("g", ["class": box.change.rawValue, "transform": place]) { text in
      text.element("title", [:], text: words)
      drawFrame(&text)
      drawHead(&text)
      var y = PictureDrawing.headHeight
      for note in box.notes { drawNote(note, box.change, at: &y, in: &text) }
      y += 4
      for line in box.lines { draw(line, at: &y, in: &text) }
      if box.hiddenCount > 0, box.change != .unchanged {
        let what = box.hiddenCount == 1 ? "property" : "properties"
        let more = box.lines.isEmpty ? "\(box.hiddenCount) \(what)" : "\(box.hiddenCount) more \(what)"
        text.element(
          "text", ["class": "muted small", "x": SVGText.number(inset + 16), "y": SVGText.number(y + 14)], text: more)
      }
    }
  }

  private var words: String {
    let lines = box.lines.filter { $0.change != .unchanged }.map { line in
      ([line.name] + [line.change.rawValue] + line.notes).joined(separator: ", ")
    }
    return (["\(box.title): \(box.change.rawValue)"] + box.notes + lines).joined(separator: "; ")
  }

  private func drawFrame(_ text: inout SVGText) {
    let height = PictureDrawing.height(of: box)
    text.element(
      "rect",
      ["class": "box", "width": SVGText.number(width), "height": SVGText.number(height), "rx": "8"])
    let head = PictureDrawing.headHeight + Double(box.notes.count) * PictureDrawing.noteHeight
    // The head's upper corners follow the frame's; so do its lower ones if there is nothing below it.
    let (w, h) = (SVGText.number(width - 1.2), SVGText.number(head - 0.6))
    let isWhole = height <= head + 1
    let bottom = isWhole
      ? "V\(SVGText.number(height - 8)) Q\(w) \(SVGText.number(height - 0.6)) \(SVGText.number(width - 8)) "
        + "\(SVGText.number(height - 0.6)) H8 Q0.6 \(SVGText.number(height - 0.6)) 0.6 \(SVGText.number(height - 8))"
      : "V\(h) H0.6"
    text.element(
      "path",
      ["class": "head", "d": "M0.6 8 Q0.6 0.6 8 0.6 H\(SVGText.number(width - 8)) Q\(w) 0.6 \(w) 8 \(bottom) Z"])
    if !isWhole {
      text.element("path", ["class": "rule", "d": "M0.6 \(h) H\(w)"])
    }
  }

  private func drawHead(_ text: inout SVGText) {
    let sign = PictureStyle.sign(box.change)
    let left = sign.isEmpty ? inset : inset + 16
    if !sign.isEmpty {
      text.element("text", ["class": "mark ink \(box.change.rawValue)", "x": "16", "y": "21"], text: sign)
    }
    let count = box.change == .unchanged && box.hiddenCount > 0 ? "\(box.hiddenCount)" : ""
    let name = TextMeasure.fitted(
      box.title, width: width - left - inset - TextMeasure.width(count, size: 11) - 6,
      size: 13 * TextMeasure.bold)
    let style = box.change == .removed ? "name ink removed gone" : "name"
    text.element("text", ["class": style, "x": SVGText.number(left), "y": "21"], text: name)
    if !count.isEmpty {
      text.element(
        "text", ["class": "muted small end", "x": SVGText.number(width - inset), "y": "21"], text: count)
    }
  }

  private func drawNote(_ note: String, _ change: ModelPicture.Change, at y: inout Double, in text: inout SVGText) {
    let left = inset + 16
    text.element(
      "text",
      ["class": "small ink \(change.rawValue)", "x": SVGText.number(left), "y": SVGText.number(y + 7)],
      text: TextMeasure.fitted(note, width: width - left - inset, size: 11))
    y += PictureDrawing.noteHeight
  }

  private func draw(_ line: ModelPicture.Line, at y: inout Double, in text: inout SVGText) {
    let height = PictureDrawing.lineHeight + Double(line.notes.count) * PictureDrawing.noteHeight
    if line.change != .unchanged {
      text.element(
        "rect",
        [
          "class": "row \(line.change.rawValue)", "x": "5", "y": SVGText.number(y + 1),
          "width": SVGText.number(width - 10), "height": SVGText.number(height - 2), "rx": "4",
        ])
      text.element(
        "text", ["class": "mark ink \(line.change.rawValue)", "x": "16", "y": SVGText.number(y + 14)],
        text: PictureStyle.sign(line.change))
    }
    let left = inset + 16
    let whole = width - left - inset
    let typeWidth = min(TextMeasure.width(line.type, size: 11), whole * 0.55)
    let name = TextMeasure.fitted(line.name, width: whole - typeWidth - 8, size: 12)
    let style = switch line.change {
    case .unchanged: "muted"
    case .removed: "ink removed gone"
    case .added, .changed: "ink \(line.change.rawValue)"
    }
    text.element(
      "text", ["class": style, "x": SVGText.number(left), "y": SVGText.number(y + 14)], text: name)
    let type = TextMeasure.fitted(
      line.type, width: whole - TextMeasure.width(name, size: 12) - 8, size: 11)
    text.element(
      "text", ["class": "muted small end", "x": SVGText.number(width - inset), "y": SVGText.number(y + 14)],
      text: type)
    var noteY = y + PictureDrawing.lineHeight
    for note in line.notes {
      text.element(
        "text",
        ["class": "small ink \(line.change.rawValue)", "x": SVGText.number(left), "y": SVGText.number(noteY + 8)],
        text: TextMeasure.fitted(note, width: whole, size: 11))
      noteY += PictureDrawing.noteHeight
    }
    y += height
  }
}
