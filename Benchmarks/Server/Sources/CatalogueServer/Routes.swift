import Foundation
import HTTPTypes
import Hummingbird

/// | route | does |
/// |---|---|
/// | `GET /items?after=NAME&limit=20` | lists items with the names of their categories, in the order of names |
/// | `GET /items/ID` | an item with its category and its notes |
/// | `PUT /items/ID` | changes the quantity of an item |
/// | `POST /items/ID/notes` | adds a note to an item |
struct Routes {
  let catalogue: any Catalogue

  func add(to router: Router<JSONContext>) {
    router.group("items")
      .get(use: list)
      .get(":id", use: get)
      .put(":id", use: put)
      .post(":id/notes", use: post)
  }

  @Sendable private func list(_ request: Request, _ context: JSONContext) async throws -> [ItemSummary] {
    let limit = request.uri.queryParameters.get("limit", as: Int.self) ?? 20
    return try await catalogue.items(after: request.uri.queryParameters["after"].map(String.init) ?? "", limit: limit)
  }

  @Sendable private func get(_ request: Request, _ context: JSONContext) async throws -> ItemDetail {
    try await found(catalogue.item(context.parameters.require("id", as: UUID.self)))
  }

  @Sendable private func put(_ request: Request, _ context: JSONContext) async throws -> StockAnswer {
    let id = try context.parameters.require("id", as: UUID.self)
    let stock = try await request.decode(as: Stock.self, context: context)
    return try await found(catalogue.setQuantity(stock.quantity, of: id))
  }

  @Sendable private func post(_ request: Request, _ context: JSONContext) async throws -> EditedResponse<NoteValue> {
    let id = try context.parameters.require("id", as: UUID.self)
    let note = try await request.decode(as: NoteValue.self, context: context)
    return try await EditedResponse(status: .created, response: found(catalogue.add(note, to: id)))
  }

  private func found<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw HTTPError(.notFound) }
    return value
  }
}

/// The context of requests whose answers have sorted keys, so that equal values are equal bytes.
struct JSONContext: RequestContext {
  var coreContext: CoreRequestContextStorage

  init(source: Source) { coreContext = .init(source: source) }

  var responseEncoder: JSONEncoder { Self.encoder }

  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = .sortedKeys
    return encoder
  }()
}
