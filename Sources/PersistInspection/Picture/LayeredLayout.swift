/// Places boxes in columns such that linked boxes are close together, and lines rarely cross and run around boxes.
///
/// The steps are those of layered graph drawing: boxes are assigned to columns; a line across several columns gets a
/// node in each column that it passes; columns are ordered to minimize crossings; finally all nodes move up or down
/// toward their neighbors.
///
/// - SeeAlso: Sugiyama, Tagawa, Toda: Methods for Visual Understanding of Hierarchical System Structures, 1981.
struct LayeredLayout {
  struct Edge {
    let source: Int
    let target: Int
    /// The heights at which the line leaves its boxes, from their tops.
    let sourceOffset: Double
    let targetOffset: Double
  }

  struct Point {
    let x: Double
    let y: Double
  }

  /// A box, or the point at which a line passes through a column.
  struct Node {
    let height: Double
    var column: Int
    var y = 0.0
    /// Links to nodes of the columns before and after, with the heights at which a line meets this node and the other
    /// one, from their tops.
    var before: [Joint] = []
    var after: [Joint] = []
  }

  struct Joint {
    let node: Int
    let own: Double
    let other: Double
  }

  let boxWidth: Double
  static let columnGap = 84.0
  static let rowGap = 22.0
  private static let passHeight = 10.0

  var nodes: [Node]
  var columns: [[Int]] = []
  private let boxCount: Int
  private let edges: [Edge]
  /// The nodes that each edge passes, from left to right.
  private var passes: [[Int]] = []

  init(heights: [Double], boxWidth: Double, edges: [Edge]) {
    self.boxWidth = boxWidth
    self.edges = edges
    boxCount = heights.count
    let assignment = ColumnAssignment(heights: heights, boxWidth: boxWidth, edges: edges)
    nodes = zip(heights, assignment.columns).map { Node(height: $0, column: $1) }
    columns = (0..<assignment.columnCount).map { column in
      assignment.order.filter { assignment.columns[$0] == column }
    }
    joinNodes()
    orderColumns()
    placeNodes()
  }

  /// Joins nodes of adjacent columns, adding pass nodes for edges that span several columns.
  private mutating func joinNodes() {
    for edge in edges {
      var (left, right) = (edge.source, edge.target)
      var (leftOffset, rightOffset) = (edge.sourceOffset, edge.targetOffset)
      if nodes[left].column > nodes[right].column {
        swap(&left, &right)
        swap(&leftOffset, &rightOffset)
      }
      var passed: [Int] = []
      if nodes[left].column < nodes[right].column {
        var last = (node: left, offset: leftOffset)
        for column in (nodes[left].column + 1)..<max(nodes[right].column, nodes[left].column + 1) {
          let pass = nodes.count
          nodes.append(Node(height: Self.passHeight, column: column))
          columns[column].append(pass)
          join(last, (pass, Self.passHeight / 2))
          last = (pass, Self.passHeight / 2)
          passed.append(pass)
        }
        join(last, (right, rightOffset))
      }
      passes.append(passed)
    }
  }

  private mutating func join(_ left: (node: Int, offset: Double), _ right: (node: Int, offset: Double)) {
    nodes[left.node].after.append(Joint(node: right.node, own: left.offset, other: right.offset))
    nodes[right.node].before.append(Joint(node: left.node, own: right.offset, other: left.offset))
  }

  // MARK: The result

  func x(ofColumn column: Int) -> Double { Double(column) * (boxWidth + Self.columnGap) }

  /// The upper left corner of a box.
  func corner(of box: Int) -> Point { Point(x: x(ofColumn: nodes[box].column), y: nodes[box].y) }

  var size: Point {
    let boxes = nodes.prefix(boxCount)
    let width = boxes.map { x(ofColumn: $0.column) + boxWidth }.max() ?? 0
    return Point(x: width, y: nodes.map { $0.y + $0.height }.max() ?? 0)
  }

  /// The points of an edge from its source to its target. Between two points in the same column it is a straight line.
  func route(of edge: Int) -> [Point] {
    let (source, target) = (edges[edge].source, edges[edge].target)
    let isForward = nodes[source].column < nodes[target].column
    let start = corner(of: source).y + edges[edge].sourceOffset
    let end = corner(of: target).y + edges[edge].targetOffset
    let sourceX = corner(of: source).x
    let targetX = corner(of: target).x
    if nodes[source].column == nodes[target].column {
      return [Point(x: sourceX + boxWidth, y: start), Point(x: targetX + boxWidth, y: end)]
    }
    var points = passes[edge].flatMap { pass -> [Point] in
      let (x, y) = (x(ofColumn: nodes[pass].column), nodes[pass].y + Self.passHeight / 2)
      return [Point(x: x, y: y), Point(x: x + boxWidth, y: y)]
    }
    if !isForward { points.reverse() }
    return [Point(x: isForward ? sourceX + boxWidth : sourceX, y: start)] + points
      + [Point(x: isForward ? targetX : targetX + boxWidth, y: end)]
  }
}
