@_exported public import PersistCore
@_exported public import PersistModel
