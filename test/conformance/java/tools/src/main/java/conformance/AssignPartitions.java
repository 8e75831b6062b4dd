package conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Has Kafka's assignors assign partitions in groups that change from round to round, and writes down what each
 * was given and answered. Arguments: the file to write, how many random groups for each assignor.
 *
 * Kafka's assignors go through hash maps of member ids, topic ids and partitions, and here and there the order
 * shows in what they answer. So that it is the order of the names, ids are chosen whose hashes ascend with
 * them, and whatever is handed in is sorted. Each case is then put to the assignor again, in hash maps and with
 * other ids in the same order; where that changes the answer, the case says so ("byHashOrder").
 */
@SuppressWarnings("removal")
public final class AssignPartitions {
    private static final List<String> ASSIGNORS =
        List.of("range", "roundrobin", "sticky", "cooperative-sticky", "server-range", "uniform");
    /** Two letters whose hashes ascend in a table of 16, and up to "ax" in one of 32: 31 * 97 + 97 is a multiple of 32. */
    private static final String MEMBER = "a";
    private static final int MOST_MEMBERS = 16;
    /** Two letters c and c - 2: their hash is 30 modulo 32, so that sets of fewer than 16 partitions descend. */
    private static final String TOPICS = "tuvwxyz";

    private final Random random;
    private final String assignor;
    private final Map<String, Integer> topics = new TreeMap<>();
    private final Map<String, Member> members = new TreeMap<>();
    private int generation = 1;

    /** A member, with what it had when it last took part. */
    private static final class Member {
        String instanceId;
        Set<String> topics = new TreeSet<>();
        Map<String, Set<Integer>> owned = new TreeMap<>();
        int generation = -1;
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        List<ObjectNode> cases = new ArrayList<>();
        for (String assignor : ASSIGNORS) {
            chosen(assignor, cases, mapper);
            for (int seed = 1; seed <= Integer.parseInt(args[1]); seed++) {
                new AssignPartitions(assignor, seed).play(cases, mapper);
            }
        }
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[0])), false, StandardCharsets.UTF_8)) {
            out.print("{\"kafkaVersion\":" + mapper.writeValueAsString(AppInfoParser.getVersion()) + ",\n\"protocol\":");
            out.print(mapper.writeValueAsString(protocol(mapper)) + ",\n\"cases\":[\n");
            for (int i = 0; i < cases.size(); i++) {
                out.print(mapper.writeValueAsString(cases.get(i)) + (i + 1 < cases.size() ? ",\n" : "\n"));
            }
            out.print("]}\n");
        }
    }

    private AssignPartitions(String assignor, int seed) {
        this.assignor = assignor;
        random = new Random(seed * 31L + assignor.hashCode());
    }

    /** Cases that somebody thought of. */
    private static void chosen(String assignor, List<ObjectNode> cases, ObjectMapper mapper) {
        for (int[] shape : new int[][] {{1, 1, 1}, {2, 1, 1}, {3, 1, 10}, {3, 2, 4}, {4, 3, 3}, {5, 2, 7}, {10, 1, 3},
            {20, 2, 15}}) {
            AssignPartitions group = new AssignPartitions(assignor, 0);
            for (int t = 0; t < shape[1]; t++) group.topics.put(topic(t), shape[2]);
            for (int m = 0; m < shape[0]; m++) group.join(m, group.topics.keySet());
            group.round("all anew", cases, mapper);
            group.round("nothing changed", cases, mapper);
            group.members.remove(member(0));
            if (!group.members.isEmpty()) group.round("the first left", cases, mapper);
            group.join(shape[0], group.topics.keySet());
            group.join(shape[0] + 1, group.topics.keySet());
            group.round("two joined", cases, mapper);
            group.topics.merge(topic(0), 5, Integer::sum);
            if (group.topics.get(topic(0)) < 16) group.round("partitions were added", cases, mapper);
        }
        AssignPartitions mixed = new AssignPartitions(assignor, 0);
        for (int t = 0; t < 3; t++) mixed.topics.put(topic(t), t + 2);
        mixed.join(0, List.of(topic(0)));
        mixed.join(1, List.of(topic(0), topic(1)));
        mixed.join(2, List.of(topic(0), topic(1), topic(2)));
        mixed.round("each subscribes to one topic more", cases, mapper);
        mixed.members.get(member(2)).topics.remove(topic(0));
        mixed.round("one gives up a topic", cases, mapper);
        mixed.topics.put(topic(0), 12);
        mixed.round("the topic of two grows", cases, mapper);
        AssignPartitions statics = new AssignPartitions(assignor, 0);
        statics.topics.put(topic(0), 7);
        for (int m = 0; m < 4; m++) statics.join(m, statics.topics.keySet()).instanceId = m == 1 ? null : "i" + (9 - m);
        statics.round("static members and one that is not", cases, mapper);
        AssignPartitions twice = new AssignPartitions(assignor, 0);
        if (assignor.endsWith("sticky")) {
            twice.topics.put(topic(0), 6);
            for (int m = 0; m < 3; m++) {
                Member member = twice.join(m, twice.topics.keySet());
                member.owned.put(topic(0), new TreeSet<>(Set.of(0, 1, m + 2)));
                member.generation = m == 2 ? 4 : 5;
            }
            twice.generation = 5;
            twice.round("two claim the same in one generation, a third in an older one", cases, mapper);
        }
    }

    /** A group that changes for a few rounds. */
    private void play(List<ObjectNode> cases, ObjectMapper mapper) {
        boolean isUniform = random.nextInt(3) == 0;
        for (int t = between(1, 4); t > 0; t--) topics.put(topic(t - 1), between(1, 12));
        for (int m = between(1, 7); m > 0; m--) joinRandomly(isUniform);
        round("at first", cases, mapper);
        for (int rounds = between(2, 4); rounds > 0; rounds--) {
            List<String> told = new ArrayList<>();
            for (int changes = between(1, 3); changes > 0; changes--) told.add(change(isUniform));
            round(String.join(", ", told), cases, mapper);
        }
    }

    private String change(boolean isUniform) {
        List<String> ids = new ArrayList<>(members.keySet());
        Member some = ids.isEmpty() ? null : members.get(ids.get(random.nextInt(ids.size())));
        switch (some == null ? 0 : random.nextInt(8)) {
            case 0: case 1:
                joinRandomly(isUniform);
                return "joined";
            case 2: case 3:
                if (ids.size() > 1) members.remove(ids.get(random.nextInt(ids.size())));
                return "left";
            case 4:
                String grown = topic(random.nextInt(topics.size()));
                topics.put(grown, Math.min(topics.get(grown) + between(1, 4), 15));
                return "grown";
            case 5:
                if (!isUniform) some.topics = subscription();
                return "subscribed anew";
            case 6:
                if (assignor.endsWith("sticky")) some.generation = Math.max(-1, some.generation - between(1, 2));
                return "late";
            default:
                if (assignor.endsWith("sticky")) some.owned.putAll(members.get(ids.get(0)).owned);
                return "claims another's";
        }
    }

    private void joinRandomly(boolean isUniform) {
        for (int tries = 0; tries < 50; tries++) {
            int number = random.nextInt(MOST_MEMBERS);
            if (members.containsKey(member(number))) continue;
            Member joined = join(number, isUniform ? topics.keySet() : subscription());
            if (random.nextInt(4) == 0) joined.instanceId = "i" + random.nextInt(100) + member(number);
            return;
        }
    }

    private Set<String> subscription() {
        Set<String> some = new TreeSet<>();
        for (String topic : topics.keySet()) if (random.nextInt(3) > 0) some.add(topic);
        return some;
    }

    private Member join(int number, Iterable<String> subscribed) {
        Member member = new Member();
        subscribed.forEach(member.topics::add);
        members.put(member(number), member);
        return member;
    }

    /** One assignment, which the members then own. */
    private void round(String about, List<ObjectNode> cases, ObjectMapper mapper) {
        Map<String, Member> hashed = new HashMap<>();
        members.forEach(hashed::put);
        if (!List.copyOf(hashed.keySet()).equals(List.copyOf(members.keySet()))) {
            throw new IllegalStateException("hashes do not ascend: " + members.keySet());
        }
        boolean isServers = assignor.equals("uniform") || assignor.endsWith("server-range");
        Map<String, Map<String, Set<Integer>>> answer = assign(Renaming.NONE, isServers);
        ObjectNode told = mapper.createObjectNode();
        told.put("assignor", assignor).put("about", about);
        if (!assign(Renaming.OTHER, isServers).equals(answer)) told.put("byHashOrder", true);
        write(told, answer, isServers);
        cases.add(told);
        generation++;
        for (Map.Entry<String, Member> entry : members.entrySet()) {
            entry.getValue().owned = new TreeMap<>(answer.getOrDefault(entry.getKey(), Map.of()));
            entry.getValue().generation = generation;
        }
    }

    private void write(ObjectNode told, Map<String, Map<String, Set<Integer>>> answer, boolean isServers) {
        ObjectNode counts = told.putObject("topics");
        topics.forEach((topic, count) -> counts.put(isServers ? topicId(topic, Renaming.NONE).toString() : topic, count));
        ArrayNode all = told.putArray("members");
        members.forEach((id, member) -> {
            ObjectNode one = all.addObject().put("id", id);
            if (member.instanceId != null) one.put("instance", member.instanceId);
            ArrayNode subscribed = one.putArray("topics");
            member.topics.forEach(topic -> subscribed.add(isServers ? topicId(topic, Renaming.NONE).toString() : topic));
            if (!member.owned.isEmpty()) writePartitions(one.putObject("owned"), member.owned, isServers);
            if (member.generation >= 0 && !isServers) one.put("generation", member.generation);
        });
        ObjectNode expected = told.putObject("expected");
        members.keySet().forEach(id -> writePartitions(expected.putObject(id), answer.getOrDefault(id, Map.of()), isServers));
    }

    private static void writePartitions(ObjectNode to, Map<String, Set<Integer>> partitions, boolean isServers) {
        partitions.forEach((topic, numbers) -> {
            ArrayNode list = to.putArray(isServers ? topicId(topic, Renaming.NONE).toString() : topic);
            numbers.forEach(list::add);
        });
    }

    /** Other ids in the same order, and hash maps: what an answer must not depend on. */
    private enum Renaming {
        NONE, OTHER;

        String member(String id) {
            return this == NONE ? id : id + "-" + Integer.toHexString(id.hashCode() * 0x9E3779B1);
        }

        String topic(String name) {
            return this == NONE ? name : name + "-" + Integer.toHexString(name.hashCode() * 0x85EBCA6B);
        }

        <V> Map<String, V> map() {
            return this == NONE ? new TreeMap<>() : new HashMap<>();
        }
    }

    private Map<String, Map<String, Set<Integer>>> assign(Renaming renaming, boolean isServers) {
        return isServers ? assignAtServer(renaming) : assignAtClient(renaming);
    }

    private Map<String, Map<String, Set<Integer>>> assignAtClient(Renaming renaming) {
        AbstractPartitionAssignor real = switch (assignor) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
        Map<String, Subscription> subscriptions = renaming.map();
        Map<String, List<PartitionInfo>> partitions = renaming.map();
        Map<String, String> names = new HashMap<>();
        members.forEach((id, member) -> {
            subscriptions.put(renaming.member(id), subscription(member, renaming));
            names.put(renaming.member(id), id);
            // As its caller does, which leaves out what nobody subscribes to.
            for (String topic : member.topics) {
                names.put(renaming.topic(topic), topic);
                partitions.computeIfAbsent(renaming.topic(topic), renamed -> {
                    List<PartitionInfo> all = new ArrayList<>();
                    for (int i = 0; i < topics.get(topic); i++) all.add(new PartitionInfo(renamed, i, null, null, null));
                    return all;
                });
            }
        });
        Map<String, Map<String, Set<Integer>>> answer = new TreeMap<>();
        real.assignPartitions(partitions, subscriptions).forEach((id, assigned) -> {
            Map<String, Set<Integer>> own = new TreeMap<>();
            for (TopicPartition each : assigned) {
                own.computeIfAbsent(names.get(each.topic()), __ -> new TreeSet<>()).add(each.partition());
            }
            answer.put(names.get(id), own);
        });
        return answer;
    }

    private Subscription subscription(Member member, Renaming renaming) {
        List<TopicPartition> owned = new ArrayList<>();
        member.owned.forEach((topic, numbers) ->
            numbers.forEach(number -> owned.add(new TopicPartition(renaming.topic(topic), number))));
        List<String> subscribed = member.topics.stream().map(renaming::topic).toList();
        boolean isEager = !assignor.equals("cooperative-sticky");
        ByteBuffer userData = null;
        if (assignor.equals("sticky") && member.generation >= 0) userData = stickyUserData(owned, member.generation);
        Subscription told = new Subscription(subscribed, userData, isEager ? List.of() : owned, member.generation,
            Optional.empty());
        told.setGroupInstanceId(Optional.ofNullable(member.instanceId));
        return told;
    }

    private static ByteBuffer stickyUserData(List<TopicPartition> owned, int generation) {
        StickyAssignor own = new StickyAssignor();
        own.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("g", generation, "m", Optional.empty()));
        return own.subscriptionUserData(Set.of());
    }

    private Map<String, Map<String, Set<Integer>>> assignAtServer(Renaming renaming) {
        ConsumerGroupPartitionAssignor real = assignor.equals("uniform")
            ? new UniformAssignor()
            : new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
        boolean isSorted = renaming == Renaming.NONE;
        Map<Uuid, String> names = new HashMap<>();
        topics.keySet().forEach(topic -> names.put(topicId(topic, renaming), topic));
        Map<String, String> memberNames = new HashMap<>();
        Map<String, MemberSubscriptionAndAssignmentImpl> specs = renaming.map();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        Set<Set<String>> subscriptions = new HashSet<>();
        members.forEach((id, member) -> {
            String renamed = renaming.member(id);
            memberNames.put(renamed, id);
            subscriptions.add(member.topics);
            Set<Uuid> subscribed = isSorted ? new TreeSet<>() : new HashSet<>();
            member.topics.forEach(topic -> subscribed.add(topicId(topic, renaming)));
            Map<Uuid, Set<Integer>> owned = isSorted ? new TreeMap<>() : new HashMap<>();
            member.owned.forEach((topic, numbers) -> {
                owned.put(topicId(topic, renaming), isSorted ? new TreeSet<>(numbers) : new HashSet<>(numbers));
                for (int number : numbers) {
                    inverted.computeIfAbsent(topicId(topic, renaming), __ -> new HashMap<>()).put(number, renamed);
                }
            });
            specs.put(renamed, new MemberSubscriptionAndAssignmentImpl(Optional.empty(),
                Optional.ofNullable(member.instanceId), subscribed,
                new org.apache.kafka.coordinator.group.modern.Assignment(Collections.unmodifiableMap(owned))));
        });
        SubscribedTopicDescriber describer = new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid topicId) {
                return topics.get(names.get(topicId));
            }

            @Override
            public Set<String> racksForPartition(Uuid topicId, int partition) {
                return Set.of();
            }
        };
        SubscriptionType type = subscriptions.size() > 1 ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        Map<String, Map<String, Set<Integer>>> answer = new TreeMap<>();
        real.assign(new GroupSpecImpl(specs, type, inverted), describer).members().forEach((id, assigned) -> {
            Map<String, Set<Integer>> own = new TreeMap<>();
            assigned.partitions().forEach((topicId, numbers) -> own.put(names.get(topicId), new TreeSet<>(numbers)));
            answer.put(memberNames.get(id), own);
        });
        return answer;
    }

    /** Bytes of what members and their leader tell each other. */
    private static ObjectNode protocol(ObjectMapper mapper) {
        ObjectNode told = mapper.createObjectNode();
        List<TopicPartition> owned = List.of(new TopicPartition("tr", 0), new TopicPartition("tr", 11));
        told.put("stickyUserData", hex(stickyUserData(owned, 7)));
        CooperativeStickyAssignor cooperative = new CooperativeStickyAssignor();
        told.put("cooperativeUserDataAtFirst", hex(cooperative.subscriptionUserData(Set.of())));
        cooperative.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("g", 7, "m", Optional.empty()));
        told.put("cooperativeUserData", hex(cooperative.subscriptionUserData(Set.of())));
        ByteBuffer data = ByteBuffer.wrap(new byte[] {1, 2, 3});
        List<TopicPartition> two = List.of(new TopicPartition("tr", 1), new TopicPartition("tr", 0), new TopicPartition("us", 300));
        Map<String, Subscription> subscriptions = new LinkedHashMap<>();
        subscriptions.put("plain", new Subscription(List.of("us", "tr")));
        subscriptions.put("owning", new Subscription(List.of("us", "tr"), data, two, 7, Optional.of("rack-1")));
        ObjectNode encoded = told.putObject("subscriptions");
        for (short version = 0; version <= 3; version++) {
            for (Map.Entry<String, Subscription> each : subscriptions.entrySet()) {
                encoded.put(each.getKey() + " v" + version, hex(ConsumerProtocol.serializeSubscription(each.getValue(), version)));
            }
        }
        ObjectNode assignments = told.putObject("assignments");
        assignments.put("none", hex(ConsumerProtocol.serializeAssignment(new Assignment(List.of()))));
        assignments.put("some", hex(ConsumerProtocol.serializeAssignment(
            new Assignment(List.of(new TopicPartition("tr", 0), new TopicPartition("tr", 1), new TopicPartition("us", 300)), data))));
        return told;
    }

    private static String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static String member(int number) {
        return MEMBER + (char) ('a' + number);
    }

    private static String topic(int number) {
        char first = TOPICS.charAt(number);
        return "" + first + (char) (first - 2);
    }

    /** Ids whose hashes ascend with them; or some whose hashes do not. */
    private static Uuid topicId(String topic, Renaming renaming) {
        int number = TOPICS.indexOf(topic.charAt(0));
        if (renaming == Renaming.NONE) return new Uuid(0, 32 + number);
        return new Uuid(number, 0x9E3779B97F4A7C15L * (number + 1));
    }

    private int between(int low, int high) {
        return low + random.nextInt(high - low + 1);
    }
}
