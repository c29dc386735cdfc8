# Makes the list of the types of events that the dashboard reads.
.vocabularies[] | select(.name == "EventType")
    | {types: (.meanings | keys_unsorted), preset: (.preset | split(" "))}
