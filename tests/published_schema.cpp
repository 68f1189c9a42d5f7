#include "published_schema.hpp"

#include <fstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace reduce_bench {

using PlainJson = nlohmann::json;  // the adapter takes no other
using valijson::adapters::NlohmannJsonAdapter;

struct PublishedSchema::Validator {
  valijson::Schema schema;
};

PublishedSchema::PublishedSchema(const std::string& name) {
  std::ifstream stream(SOURCE_DIR "/configs/schema/" + name);
  const PlainJson text = PlainJson::parse(stream);
  const NlohmannJsonAdapter adapter(text);
  auto validator = std::make_unique<Validator>();
  valijson::SchemaParser(valijson::SchemaParser::kDraft7)
      .populateSchema(adapter, validator->schema);
  validator_ = std::move(validator);
}

PublishedSchema::~PublishedSchema() = default;

std::string PublishedSchema::complaint(const Json& document) const {
  const PlainJson plain = PlainJson::parse(document.dump());
  const NlohmannJsonAdapter adapter(plain);
  valijson::ValidationResults results;
  if (valijson::Validator().validate(validator_->schema, adapter, &results)) return {};
  std::string text;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& step : error.context) text += step;
    text += ": " + error.description + "\n";
  }
  return text;
}

}  // namespace reduce_bench
