#include <algorithm>
#include <unordered_map>

#include "zoo/spec_layers.h"

namespace arenagrad {
namespace {

class CycleCheck {
 public:
  void visit(const LayerList& list) {
    for (const Entry& entry : list.entries) {
      if (!entry.body) continue;
      if (entry.group) {
        visit(*entry.group);
      } else {
        enter(entry);
      }
    }
  }

  void visit_block(const LayerList& block) {
    if (done_[&block]) return;
    path_.push_back(&block);
    visit(block);
    path_.pop_back();
    done_[&block] = true;
  }

 private:
  void enter(const Entry& entry) {
    const JsonValue& where = *entry.json->find("block");
    const auto start = std::ranges::find(path_, entry.body);
    if (start != path_.end()) {
      std::string loop;
      for (auto i = start; i != path_.end(); ++i) loop += (*i)->block + " -> ";
      fail(where, "blocks include each other: expected an end, found " + loop + entry.body->block);
    }
    if (path_.size() >= JsonDocument::kMaxDepth) {
      fail(where, "nested too deeply: expected at most " + std::to_string(JsonDocument::kMaxDepth) +
                      " blocks, found more");
    }
    visit_block(*entry.body);
  }

  std::vector<const LayerList*> path_;
  std::unordered_map<const LayerList*, bool> done_;
};

}  // namespace

void refuse_block_cycles(const Spec& spec) {
  CycleCheck check;
  for (const auto& [name, block] : spec.blocks) check.visit_block(block);
}

}  // namespace arenagrad
